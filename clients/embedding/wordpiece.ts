/** The WordPiece tokenizer of BERT's English models. The library reads the vocabulary from a `tokenizer.json`. */
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';

export class WordPiece {
  readonly #tokenizer: Tokenizer;

  constructor(path: string) {
    this.#tokenizer = new Tokenizer(JSON.parse(readFileSync(path, 'utf8')) as object, {});
  }

  /** The token ids of a text with its begin and end tokens, truncated to `limit`. */
  encode(text: string, limit: number): readonly number[] {
    const { ids } = this.#tokenizer.encode(text);
    return ids.length <= limit ? ids : [...ids.slice(0, limit - 1), ids.at(-1)!];
  }
}
