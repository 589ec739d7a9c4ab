/** Ids that are chosen here for things of other services, so that making one again makes the same one. Pure. */

/** The bytes of a hash, at least 16, in the form of a UUID (version 8, whose bits the sender chooses, as RFC 9562 has it). */
export function uuidOf(hash: Uint8Array, version: 4 | 8 = 4): string {
  const bytes = Uint8Array.from(hash.subarray(0, 16));
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [8, 4, 4, 4, 12]
    .reduce<{ at: number; parts: string[] }>(
      ({ at, parts }, length) => ({ at: at + length, parts: [...parts, hex.slice(at, at + length)] }),
      { at: 0, parts: [] },
    )
    .parts.join('-');
}
