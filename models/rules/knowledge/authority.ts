/** The three priority tiers of knowledge sources, and the default tier when none is stored (spec 2.8). Pure. */
export const sourceTypes = ['document', 'website'] as const;
export type SourceType = (typeof sourceTypes)[number];

/** Whether a source id belongs to a page of a website rather than to a document. */
export const isPage = (sourceId: string): boolean => sourceId.startsWith('page_');

/** The priority tiers of sources, highest first. When sources of one tier can answer, lower tiers are ignored. */
export const authorities = ['primary', 'normal', 'background'] as const;
export type Authority = (typeof authorities)[number];

export function defaultAuthority(type: SourceType): Authority {
  return type === 'document' ? 'normal' : 'background';
}

/**
 * The stored tier, or else the default tier of the source type. The default applies when no tier is stored, or when a
 * later version of the platform stored a tier that this version does not know.
 */
export function effectiveAuthority(stored: string | null | undefined, type: SourceType): Authority {
  return authorities.find((authority) => authority === stored) ?? defaultAuthority(type);
}
