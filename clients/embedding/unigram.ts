/**
 * A Unigram (SentencePiece) tokenizer on typed arrays. A vocabulary of 250,000 pieces stays one block of bytes and a
 * hash table instead of 250,000 strings. This file also writes the vocabulary file that it reads.
 *
 * Format of the file, all little-endian: u32 number of pieces, u32 bytes of the pieces, u32 bytes of the JSON, u32 0;
 * u32 offsets[pieces + 1]; f32 scores[pieces]; the pieces in UTF-8; the JSON of `VocabularyOptions`.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

export type VocabularyOptions = {
  /** The ids of the special pieces: begin of text, end of text, unknown text. */
  bos: number;
  eos: number;
  unk: number;
  /** The ids of pieces that a text must never match. */
  control: number[];
  /** Replacements of code points before tokenization. Null means Unicode's NFKC instead. */
  map: Record<string, string> | null;
};

export async function writeVocabulary(
  path: string,
  pieces: readonly string[],
  scores: readonly number[],
  options: VocabularyOptions,
): Promise<void> {
  const blobs = pieces.map((piece) => Buffer.from(piece));
  const offsets = new Uint32Array(pieces.length + 1);
  for (const [index, blob] of blobs.entries()) offsets[index + 1] = offsets[index]! + blob.length;
  const json = Buffer.from(JSON.stringify(options));
  const head = Uint32Array.of(pieces.length, offsets.at(-1)!, json.length, 0);
  const numbers = [head, offsets, Float32Array.from(scores)].map(({ buffer }) => Buffer.from(buffer));
  await writeFile(path, Buffer.concat([...numbers, ...blobs, json]));
}

const space = '\u2581';
/** The score of an unknown piece is this much below the vocabulary's lowest score. */
const unknownPenalty = 10;

// The hash is FNV-1a, computed byte by byte, so that the hash of a longer piece continues the hash of its prefix.
const hashStart = 0x811c9dc5;
const hashStep = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);
const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) >>> 0;

export class Unigram {
  readonly #options: VocabularyOptions;
  readonly #map: ReadonlyMap<number, string> | undefined;
  readonly #offsets: Uint32Array;
  readonly #scores: Float32Array;
  readonly #pieces: Uint8Array;
  /** A hash table with open addressing. Entries are id + 1; 0 is free. */
  readonly #table: Uint32Array;
  readonly #longest: number;
  readonly #unknownScore: number;

  /** Reads a file written by `writeVocabulary`. */
  constructor(path: string) {
    const file = readFileSync(path);
    const [count, pieceBytes, jsonBytes] = [file.readUInt32LE(0), file.readUInt32LE(4), file.readUInt32LE(8)];
    const at = file.byteOffset + 16;
    this.#offsets = new Uint32Array(file.buffer, at, count + 1);
    this.#scores = new Float32Array(file.buffer, at + 4 * (count + 1), count);
    const piecesAt = 16 + 4 * (2 * count + 1);
    this.#pieces = file.subarray(piecesAt, piecesAt + pieceBytes);
    const json = file.toString('utf8', piecesAt + pieceBytes, piecesAt + pieceBytes + jsonBytes);
    this.#options = JSON.parse(json) as VocabularyOptions;
    this.#map =
      this.#options.map === null
        ? undefined
        : new Map(Object.entries(this.#options.map).map(([code, text]) => [Number(code), text]));
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count)));
    const { longest, lowest } = this.#fill(count);
    this.#longest = longest;
    this.#unknownScore = lowest - unknownPenalty;
  }

  #fill(count: number): { longest: number; lowest: number } {
    const control = new Set(this.#options.control);
    const mask = this.#table.length - 1;
    let longest = 1;
    let lowest = Infinity;
    for (let id = 0; id < count; id++) {
      const [from, to] = [this.#offsets[id]!, this.#offsets[id + 1]!];
      if (from === to || control.has(id)) continue;
      lowest = Math.min(lowest, this.#scores[id]!);
      longest = Math.max(longest, to - from);
      let hash = hashStart;
      for (let i = from; i < to; i++) hash = hashStep(hash, this.#pieces[i]!);
      let slot = slotOf(hash) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = id + 1;
    }
    return { longest, lowest };
  }

  /**
   * Normalizes a text to the form of the pieces. Characters are replaced (`map`), each run of white space becomes one
   * `space` mark, and the first word gets such a mark before it.
   */
  #normalize(text: string): string {
    const map = this.#map;
    const plain = map ? Array.from(text, (c) => map.get(c.codePointAt(0)!) ?? c).join('') : text.normalize('NFKC');
    return space + plain.replace(/\s+/gu, ' ').trim().replaceAll(' ', space);
  }

  #find(text: Uint8Array, from: number, to: number, hash: number): number | undefined {
    const mask = this.#table.length - 1;
    for (let slot = slotOf(hash) & mask; this.#table[slot] !== 0; slot = (slot + 1) & mask) {
      const id = this.#table[slot]! - 1;
      const at = this.#offsets[id]!;
      if (this.#offsets[id + 1]! - at !== to - from) continue;
      let i = 0;
      while (i < to - from && this.#pieces[at + i] === text[from + i]) i++;
      if (i === to - from) return id;
    }
    return undefined;
  }

  /**
   * The ids of the best segmentation (Viterbi), with the begin and end ids, at most `limit` in all. Takes linear time,
   * so callers truncate very long texts.
   */
  encode(text: string, limit: number): number[] {
    const bytes = Buffer.from(this.#normalize(text));
    const best = new Float64Array(bytes.length + 1).fill(-Infinity);
    const ids = new Int32Array(bytes.length + 1);
    const back = new Int32Array(bytes.length + 1);
    best[0] = 0;
    const offer = (from: number, to: number, id: number, score: number): void => {
      if (best[from]! + score <= best[to]!) return;
      best[to] = best[from]! + score;
      ids[to] = id;
      back[to] = from;
    };
    for (let from = 0; from < bytes.length; from++) {
      // No piece begins at this byte, because it is not at a character boundary.
      if (best[from] === -Infinity) continue;
      let hash = hashStart;
      let character = 0;
      for (let to = from + 1; to <= Math.min(bytes.length, from + this.#longest); to++) {
        hash = hashStep(hash, bytes[to - 1]!);
        if (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) continue;
        character ||= to;
        const id = this.#find(bytes, from, to, hash);
        if (id !== undefined) offer(from, to, id, this.#scores[id]!);
      }
      if (character > 0) offer(from, character, this.#options.unk, this.#unknownScore);
    }
    const path: number[] = [];
    for (let to = bytes.length; to > 0; to = back[to]!) path.push(ids[to]!);
    const { bos, eos } = this.#options;
    return [bos, ...path.toReversed().slice(0, limit - 2), eos];
  }
}
