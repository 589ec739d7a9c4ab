/** Support sessions: their limits, how long they last, and which pages may embed the chat. Pure. */
import type { Mode } from './keys.ts';

/** The lifetime of a session that an organization's backend mints, in seconds. */
export const ttlSeconds = { min: 60, max: 3600, default: 3600 } as const;
/** The lifetime of an embedded chat's session after the page last connected, in ms. */
export const embedSessionMs = 24 * 3_600_000;
/** The lifetime of a step-up token, in ms. The token approves one action that needs a second proof of identity. */
export const stepUpMs = 5 * 60_000;
/** The longest time for which the previous embed secret may stay valid after a rotation, in seconds. */
export const maxOverlapSeconds = 7 * 86_400;

export const maxNameLength = 200;
export const maxExternalIdLength = 200;
/**
 * The maximum length of a product name (`productType`), in characters; questions through the API have the same limit.
 * The name becomes a segment tag, which is truncated to 64 characters.
 */
export const maxProductTypeLength = 200;
/** The maximum size of a session's context or a `context_update`: bytes of UTF-8 as JSON without blanks. */
export const maxContextBytes = 8 * 1024;
/**
 * The maximum nesting of objects and arrays in a session's context. Usual contexts are nested far less, and the
 * database and the call stack allow far more.
 */
export const maxContextDepth = 16;

/**
 * The maximum length of the visitor id that an organization's backend gives. The backend vouches for the customer, so
 * the id need not be hard to guess.
 */
export const maxVisitorIdLength = 100;
/**
 * The visitor id that a page chooses: 16 to 100 characters that need no escaping in a URL. Anyone who knows the id can
 * act as the visitor, so pages choose it at random.
 */
export const visitorIdPattern = /^[A-Za-z0-9_-]{16,100}$/;
export const signaturePattern = /^[0-9a-fA-F]{64}$/;

/** The expiry of a session that is created now, rounded down to whole seconds, as in the session's token. */
export function sessionEnd(ttl: number | undefined, now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1000) + (ttl ?? ttlSeconds.default)) * 1000);
}

/**
 * Whether pages of this origin may embed the chat: origins that the organization listed, and in test mode also
 * localhost. A page with an opaque origin (`null`: a file, a sandboxed frame) may not.
 */
export function originAllowed(origin: string | undefined, allowed: readonly string[], mode: Mode): boolean {
  if (origin === undefined) return false;
  if (allowed.includes(origin)) return true;
  return mode === 'test' && /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/.test(origin);
}

/** Why a value cannot be a session's context; undefined when it can be. `context` comes from JSON parsing. */
export function contextProblem(context: Record<string, unknown>): string | undefined {
  // The depth is checked first, because serializing a very deep object to measure its size could overflow the call
  // stack.
  const flaw = flawOf(context, maxContextDepth);
  if (flaw) return flaw;
  const bytes = new TextEncoder().encode(JSON.stringify(context)).length;
  return bytes > maxContextBytes ? `may have ${maxContextBytes} bytes as JSON` : undefined;
}

/** The product that a context names; undefined when it names none. */
export function productTypeOf(context: Record<string, unknown>): string | undefined {
  const product = context['productType'];
  return typeof product === 'string' && product.trim() !== '' ? product : undefined;
}

function flawOf(value: unknown, depthLeft: number): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (depthLeft === 0) return `may have ${maxContextDepth} objects or arrays inside each other`;
  for (const [name, inner] of Object.entries(value)) {
    // Rejects names that MongoDB treats as operators or cannot store.
    if (name.startsWith('$') || name.includes('\0') || name === '__proto__')
      return 'must not have names that begin with `$`, are `__proto__`, or hold a zero character';
    const flaw = flawOf(inner, depthLeft - 1);
    if (flaw) return flaw;
  }
  return undefined;
}
