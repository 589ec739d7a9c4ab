/**
 * Reads the text of the first pages of a PDF with PDF.js, for resumes. Scripts are never run, and fonts and pictures
 * are not rendered. This file cannot limit memory or time, because PDF.js may use any amount of both before it returns
 * the first character. The kernel limits the process that runs this code (`pdfBounds` in files.ts).
 */
import { getDocumentProxy } from 'unpdf';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { readingOrder, type Piece } from './layout.ts';
import { Blocks, type Limits } from './limits.ts';

/** Further pages are ignored; no resume is longer. */
const maxPages = 20;
/** Maximum pieces of text on one page. A dense page of small print has some thousands. */
const maxPieces = 50_000;

/** Returns a block for each page. @throws Unreadable, or the library's error for a damaged file */
export async function readPdf(bytes: Buffer, limits: Limits): Promise<Blocks> {
  const blocks = new Blocks(limits);
  const file = await opened(bytes);
  for (let number = 1; number <= Math.min(file.numPages, maxPages); number += 1) {
    const page = await file.getPage(number);
    blocks.text(readingOrder(await piecesOf(page, limits.maxTextCharacters)).join('\n'));
  }
  if (blocks.list.every((block) => block.kind === 'text' && block.text.trim() === '')) throw new Unreadable('scanned');
  return blocks;
}

type Opened = Awaited<ReturnType<typeof getDocumentProxy>>;

async function opened(bytes: Buffer): Promise<Opened> {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: false, disableFontFace: true });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new Unreadable('encrypted', { cause: error });
    throw error;
  }
}

async function piecesOf(page: Awaited<ReturnType<Opened['getPage']>>, maxCharacters: number): Promise<Piece[]> {
  const pieces: Piece[] = [];
  let characters = 0;
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<{ items: unknown[] }>;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    for (const item of value.items) {
      const { str, transform, width, height } = item as {
        str?: string;
        transform?: number[];
        width?: number;
        height?: number;
      };
      if (typeof str !== 'string' || !transform) continue;
      pieces.push({ text: str, x: transform[4] ?? 0, y: transform[5] ?? 0, width: width ?? 0, height: height ?? 0 });
      characters += str.length;
      // A page with more text than this is not meant for a human reader.
      if (characters > maxCharacters || pieces.length > maxPieces) {
        await reader.cancel(new Error('enough'));
        return pieces;
      }
    }
  }
}
