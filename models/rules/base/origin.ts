/**
 * A secret stays with the origin (scheme, host and port) that it was given for: whoever may change an address beside it must
 * not be able to have the secret sent, or used, somewhere else. Another origin asks for the secret again. Pure.
 */

/** The origin of an address; null for none. */
export const originOf = (address: string | null): string | null => (address ? new URL(address).origin : null);

/**
 * Whether a stored secret must not go along to this address. `givenFor`: the origin that it was given for; null when there was no
 * address yet, so that the first one may have it.
 */
export const isElsewhere = (givenFor: string | null, address: string | null): boolean =>
  givenFor !== null && address !== null && originOf(address) !== givenFor;

/** What is said of the field of such a secret. `address`: the field that names another server. */
export const givenAgain = (address: string): string =>
  `is required again, because ${address} names another server than the one that it was given for`;
