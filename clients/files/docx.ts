/** Reads a DOCX: mammoth converts it to HTML after the archive has passed all limits. Pictures are not decoded. */
import mammoth from 'mammoth';
import { isCompoundFile } from '../../models/rules/knowledge/document.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { addHtml } from './html.ts';
import { Blocks, type Limits } from './limits.ts';
import { placeNotes } from './wordnotes.ts';
import { readHidingStyles } from './wordstyles.ts';
import { rewritePart, rewriteRelations } from './wordxml.ts';
import { openArchive } from './zip.ts';

/**
 * @throws `Unreadable` for an OLE2 compound file: `encrypted` when it contains a protected document, otherwise `legacy`
 */
export function refuseCompoundFile(bytes: Buffer): void {
  if (!isCompoundFile(bytes)) return;
  throw new Unreadable(bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')) ? 'encrypted' : 'legacy');
}

/** @throws `Unreadable`, or the library's error for a damaged file */
export async function readDocx(bytes: Buffer, limits: Limits): Promise<Blocks> {
  refuseCompoundFile(bytes);
  const archive = await openArchive(bytes, limits);
  const styles = await readHidingStyles(archive);
  // Mammoth reads each part through this object, so only checked parts are read, and unused parts need not be valid.
  const file = {
    // The style map in the file is hidden from mammoth, because a file could use the map to choose what its paragraphs
    // become. `[Content_Types].xml` is hidden too, because mammoth needs it only for pictures.
    exists: (name: string): boolean => /\.(?:xml|rels)$/.test(name) && !isUnused(name) && archive.names.has(name),
    read: (name: string): Promise<string> =>
      name.endsWith('.rels') ? rewriteRelations(archive, name) : rewritePart(archive, name, { styles, limits }),
  };
  const { value } = await mammoth.convertToHtml(
    // Mammoth accepts this input, but its types do not declare it.
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
