/** Reads a DOCX: mammoth turns it into HTML after the archive has passed every limit. Pictures are not decoded. */
import mammoth from 'mammoth';
import { isCompoundFile } from '../../models/rules/knowledge/document.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { addHtml } from './html.ts';
import { Blocks, type Limits } from './limits.ts';
import { placeNotes } from './wordnotes.ts';
import { readHidingStyles } from './wordstyles.ts';
import { rewritePart, rewriteRelations } from './wordxml.ts';
import { openArchive } from './zip.ts';

/** Throws when the bytes are an OLE2 compound file: `encrypted` when it wraps a protected document, else `legacy`. */
export function refuseCompoundFile(bytes: Buffer): void {
  if (!isCompoundFile(bytes)) return;
  throw new Unreadable(bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')) ? 'encrypted' : 'legacy');
}

/** The blocks of a DOCX. Throws `Unreadable`, or a library's error for a damaged file. */
export async function readDocx(bytes: Buffer, limits: Limits): Promise<Blocks> {
  refuseCompoundFile(bytes);
  const archive = await openArchive(bytes, limits);
  const styles = await readHidingStyles(archive);
  // Mammoth reads each part from here, so every part that it opens was checked, and parts that it does not open need
  // not be valid.
  const file = {
    // Mammoth's embedded style map is left out, because with it a file could choose what its paragraphs become; types
    // of pictures are not needed.
    exists: (name: string): boolean => /\.(?:xml|rels)$/.test(name) && !isUnused(name) && archive.names.has(name),
    read: (name: string): Promise<string> =>
      name.endsWith('.rels') ? rewriteRelations(archive, name) : rewritePart(archive, name, { styles, limits }),
  };
  const { value } = await mammoth.convertToHtml(
    // Mammoth's types do not list this input.
    { file } as unknown as { buffer: Buffer },
    {
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"],
      transformDocument: placeNotes,
      externalFileAccess: false,
    },
  );
  const blocks = new Blocks(limits);
  addHtml(blocks, limits, value);
  return blocks;
}

const isUnused = (name: string): boolean => name.startsWith('mammoth/') || name === '[Content_Types].xml';
