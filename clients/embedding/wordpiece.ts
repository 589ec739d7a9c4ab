/** The tokenizer of BERT's English models, which the library reads from a `tokenizer.json`. */
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';

export class WordPiece {
  readonly #tokenizer: Tokenizer;

  constructor(path: string) {
    this.#tokenizer = new Tokenizer(JSON.parse(readFileSync(path, 'utf8')) as object, {});
  }

  /** The ids of a text, at most `limit`, with a mark at the beginning and at the end. */
  encode(text: string, limit: number): readonly number[] {
    const { ids } = this.#tokenizer.encode(text);
    return ids.length <= limit ? ids : [...ids.slice(0, limit - 1), ids.at(-1)!];
  }
}
