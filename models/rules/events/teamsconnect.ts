/** How an organization connects its Microsoft Teams: somebody there sends a code that an admin was given here. Pure. */

/** Whose Teams it is, as connections remember it. */
export const teamsExternal = (tenantId: string): string => `tenant:${tenantId}`;

const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
/** 77 bits. */
export const codeLength = 16;

/** A code from as many random bytes; letters that look alike are left out. */
export const codeFrom = (bytes: Uint8Array): string =>
  [...bytes.subarray(0, codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('');

/** The code in a message that says `connect <code>`; undefined for any other. */
export function connectCode(question: string): string | undefined {
  const code = /^connect\s+(\S+)$/i.exec(question.trim())?.[1]?.toLowerCase();
  return code?.length === codeLength ? code : undefined;
}
