/** Reads a DOCX: mammoth turns it into HTML, after the archive has passed every cap. Pictures are not decoded. */
import mammoth from 'mammoth';
import { isCompoundFile, Unreadable } from '../../models/rules/document.ts';
import { addHtml } from './html.ts';
import { Blocks, type Limits } from './limits.ts';
import { openArchive } from './zip.ts';

/** Throws when the bytes are an OLE2 compound file: `encrypted` when it wraps a protected document, else `legacy`. */
export function refuseCompoundFile(bytes: Buffer): void {
  if (!isCompoundFile(bytes)) return;
  throw new Unreadable(bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')) ? 'encrypted' : 'legacy');
}

/** The blocks of a DOCX. Throws `Unreadable`, or a library's error for a damaged file. */
export async function readDocx(bytes: Buffer, limits: Limits): Promise<Blocks> {
  refuseCompoundFile(bytes);
  await openArchive(bytes, limits, { checkXml: true });
  const { value } = await mammoth.convertToHtml(
    { buffer: bytes },
    {
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"],
      convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
      externalFileAccess: false,
    },
  );
  const blocks = new Blocks(limits);
  addHtml(blocks, limits, value);
  return blocks;
}
