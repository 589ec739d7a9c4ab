/**
 * A secret stays with the origin (scheme, host and port) that it was given for. Somebody who may change the address
 * beside it must not be able to have the secret sent or used elsewhere, so for another origin the secret must be given
 * again. Pure.
 */

/** The origin of a URL; null for null. */
export const originOf = (address: string | null): string | null => (address ? new URL(address).origin : null);

/**
 * Whether a stored secret must not be used with this URL. `givenFor`: the origin that it was given for; null when there
 * was no URL yet, so the first URL may have it.
 */
export const isElsewhere = (givenFor: string | null, address: string | null): boolean =>
  givenFor !== null && address !== null && originOf(address) !== givenFor;

/** The error for the field of such a secret. `address`: the field that names the other server. */
export const givenAgain = (address: string): string =>
  `is required again, because ${address} names another server than the one that it was given for`;
