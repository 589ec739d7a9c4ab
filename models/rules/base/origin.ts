/**
 * Binds a stored secret to the origin (scheme, host and port) it was entered for. Otherwise a member who may change the
 * address could have the secret sent to another server. For another origin the secret must be entered again. Pure.
 */

export const originOf = (address: string | null): string | null => (address ? new URL(address).origin : null);

/**
 * Whether a stored secret must not be used with this URL. `givenFor`: the origin the secret was entered for; null when
 * there was no URL yet, so that the first URL may use the secret.
 */
export const isElsewhere = (givenFor: string | null, address: string | null): boolean =>
  givenFor !== null && address !== null && originOf(address) !== givenFor;

/**
 * The validation message for a secret that must be entered again. `address`: the name of the field that holds the new
 * server's URL.
 */
export const givenAgain = (address: string): string =>
  `is required again, because ${address} names another server than the one that it was given for`;
