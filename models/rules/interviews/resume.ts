/** The accepted file types and the maximum length of a resume. Pure. */
import { invalid, Problem } from '../base/errors.ts';
import type { Block } from '../knowledge/chunks.ts';
import { detectFileType } from '../knowledge/document.ts';

const resumeTypes = ['pdf', 'docx'] as const;
export type ResumeType = (typeof resumeTypes)[number];

/**
 * Detects the file type of a resume by its first bytes, or else by its file name. A damaged file is accepted here;
 * reading the file fails later with a reason that its owner understands.
 * @throws Problem VALIDATION for an empty file, UNSUPPORTED_FILE_TYPE.
 */
export function detectResume(
  head: Uint8Array,
  filename: string,
  zipEntries?: readonly string[],
  contentTypes = '',
): ResumeType {
  if (head.length === 0) {
    throw invalid(['body', 'file'], 'is empty; choose a file with content');
  }
  // Some programs write other bytes before the PDF signature, so it is searched for in the first 1,024 bytes.
  if (String.fromCharCode(...head.subarray(0, 1_024)).includes('%PDF-')) return 'pdf';
  const named = resumeTypes.find((type) => filename.trim().toLowerCase().endsWith(`.${type}`));
  if (named === 'pdf') return 'pdf';
  const message = 'A resume is a PDF or a DOCX; save it as one of them and upload that.';
  const refused = new Problem('UNSUPPORTED_FILE_TYPE', { message, details: [{ path: ['body', 'file'], message }] });
  if (named === undefined) throw refused;
  try {
    detectFileType(head, filename, zipEntries, contentTypes);
  } catch (error) {
    throw error instanceof Problem && error.code === 'UNSUPPORTED_FILE_TYPE' ? refused : error;
  }
  return 'docx';
}

/** The text of a resume: each parsed block on a line. */
export const resumeText = (blocks: readonly Block[]): string =>
  blocks
    .map((block) => (block.kind === 'row' ? block.cells.map(([, value]) => value).join(' | ') : block.text))
    .join('\n')
    .slice(0, maxResumeCharacters);

/** The maximum length of the text, in characters; a longer text is truncated. */
export const maxResumeCharacters = 200_000;
