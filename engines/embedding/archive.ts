/**
 * Reads members of the archives that contain models: wheels (ZIP) and NumPy's `.npz`. The checksum of an archive must
 * be verified before it is read here.
 */
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';

/** The members listed in `names`, or all members. Throws when one is missing. */
export async function readMembers(archive: Buffer, names?: readonly string[]): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(archive);
  const members = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    if (names === undefined || names.includes(entry.fileName))
      members.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  const missing = names?.find((name) => !members.has(name));
  if (missing !== undefined) throw new Error(`The archive has no ${missing}.`);
  return members;
}

export type Matrix = { shape: number[]; data: Float32Array | Uint8Array };

/**
 * Parses an array in NumPy's `.npy` format, in C order: bytes, or half, single or double floats (converted to 32 bits).
 */
export function readNpy(bytes: Buffer): Matrix {
  const [length, start] = bytes[6] === 1 ? [bytes.readUInt16LE(8), 10] : [bytes.readUInt32LE(8), 12];
  const head = bytes.toString('latin1', start, start + length);
  if (head.includes("'fortran_order': True")) throw new Error('An array in Fortran order is not supported.');
  const type = /'descr': '([^']+)'/.exec(head)?.[1];
  const shape = (/'shape': \(([^)]*)\)/.exec(head)?.[1]?.match(/\d+/g) ?? []).map(Number);
  // The bytes are copied, because typed arrays need an aligned buffer.
  const { buffer: raw } = Uint8Array.from(bytes.subarray(start + length));
  if (type === '|u1') return { shape, data: new Uint8Array(raw) };
  if (type === '<f4') return { shape, data: new Float32Array(raw) };
  if (type === '<f2') return { shape, data: Float32Array.from(new Float16Array(raw)) };
  if (type === '<f8') return { shape, data: Float32Array.from(new Float64Array(raw)) };
  throw new Error(`An array of type ${type} is not supported.`);
}
