/**
 * What a support session may carry, how long it lasts, and which pages may embed the chat. Pure; a customer's identity
 * is proven elsewhere.
 */
import type { Mode } from './keys.ts';

/** How long a minted session lasts, in seconds. */
export const ttlSeconds = { min: 60, max: 3600, default: 3600 } as const;
/** How long an embed's session lasts after its page last connected, in ms. */
export const embedSessionMs = 24 * 3_600_000;
/**
 * How long a session's record is kept after its end, in seconds: until then it shows who wrote, and that it was
 * revoked.
 */
export const sessionKeptSeconds = 30 * 86_400;
/** How long a step-up token may wait for its use, in ms. */
export const stepUpMs = 5 * 60_000;
/** How long the former embed secret may stay valid beside a new one, in seconds. */
export const maxOverlapSeconds = 7 * 86_400;

export const maxNameLength = 200;
export const maxExternalIdLength = 200;
/** The same limit as for questions: a product is a tag, and tags are cut to 64 characters. */
export const maxProductTypeLength = 200;
/** The size of a session's context or of a `context_update`, as JSON without blanks, in UTF-8. */
export const maxContextBytes = 8 * 1024;
/**
 * How deep objects and arrays may be nested: far more than people write, far less than a database or a stack supports.
 */
export const maxContextDepth = 16;

/**
 * The length of the name that a backend gives a visitor when it mints a session. The backend vouches for the customer,
 * so a short name is enough.
 */
export const maxVisitorIdLength = 100;
/**
 * The visitor id that a page chooses: 16 to 100 characters that need no escaping in an address. Anyone who knows it can
 * act as that visitor, so pages choose it at random.
 */
export const visitorIdPattern = /^[A-Za-z0-9_-]{16,100}$/;
/** An HMAC-SHA256 in hexadecimal. */
export const signaturePattern = /^[0-9a-fA-F]{64}$/;

/** When a session that is minted now ends: in whole seconds, as in tokens. */
export function sessionEnd(ttl: number | undefined, now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1000) + (ttl ?? ttlSeconds.default)) * 1000);
}

/**
 * Whether pages of this origin may embed the chat: those that the organization listed, and in test mode also pages of
 * the developer's own machine. A page with an opaque origin (`null`: a file, a sandboxed frame) may not.
 */
export function originAllowed(origin: string | undefined, allowed: readonly string[], mode: Mode): boolean {
  if (origin === undefined) return false;
  if (allowed.includes(origin)) return true;
  return mode === 'test' && /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/.test(origin);
}

/** Why this cannot be a context; undefined when it can. `context` is the result of JSON parsing. */
export function contextProblem(context: Record<string, unknown>): string | undefined {
  // The depth is checked first, because measuring the size means writing the whole object.
  const flaw = flawOf(context, maxContextDepth);
  if (flaw) return flaw;
  const bytes = new TextEncoder().encode(JSON.stringify(context)).length;
  return bytes > maxContextBytes ? `may have ${maxContextBytes} bytes as JSON` : undefined;
}

/** The product a context names; undefined when it names none. */
export function productTypeOf(context: Record<string, unknown>): string | undefined {
  const product = context['productType'];
  return typeof product === 'string' && product.trim() !== '' ? product : undefined;
}

function flawOf(value: unknown, depthLeft: number): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (depthLeft === 0) return `may have ${maxContextDepth} objects or arrays inside each other`;
  for (const [name, inner] of Object.entries(value)) {
    // Names that a database would treat as operators, or could not store.
    if (name.startsWith('$') || name.includes('\0') || name === '__proto__')
      return 'must not have names that begin with `$`, are `__proto__`, or hold a zero character';
    const flaw = flawOf(inner, depthLeft - 1);
    if (flaw) return flaw;
  }
  return undefined;
}
