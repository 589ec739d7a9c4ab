/** The part of yauzl's promise interface that clients/files and engines/embedding use; @types/yauzl lacks it. */
import type { Readable } from 'node:stream';

declare module 'yauzl' {
  // `openPromise` and `fromBufferPromise` set the option `lazyEntries`, which `eachEntry` needs.
  export function openPromise(path: string, options?: Options): Promise<ZipFile>;
  export function fromBufferPromise(bytes: Buffer, options?: Options): Promise<ZipFile>;
  export interface ZipFile {
    /** May be called once. */
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
  }
}
