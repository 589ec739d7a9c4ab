/**
 * The priority of a source: its three tiers and what holds when none is stored (spec 2.8). Pure.
 */
export const sourceTypes = ['document', 'website'] as const;
export type SourceType = (typeof sourceTypes)[number];

/** Highest first: sources of the first tier that has an answer answer alone. */
export const authorities = ['primary', 'normal', 'background'] as const;
export type Authority = (typeof authorities)[number];

export function defaultAuthority(type: SourceType): Authority {
  return type === 'document' ? 'normal' : 'background';
}

/** A source with no stored authority, or one from a later version, behaves as its type implies. */
export function effectiveAuthority(stored: string | null | undefined, type: SourceType): Authority {
  return authorities.find((authority) => authority === stored) ?? defaultAuthority(type);
}
