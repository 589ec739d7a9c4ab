/** The reader of each type of file. They run only inside a file process, and in tests of what they read. */
import type { Blocks, Limits } from './limits.ts';
import type { FileType } from '../../models/rules/knowledge/document.ts';

/** What can be read: what the knowledge base takes, and resumes. */
export type ReadableType = FileType | 'pdf';
export type Reader = (bytes: Buffer, limits: Limits) => Blocks | Promise<Blocks>;

/**
 * Readers are loaded one by one: all of them while the process waits, or only the requested one when a file has already
 * arrived.
 */
export const readers: Record<ReadableType, () => Promise<Reader>> = {
  md: async () => (await import('./text.ts')).readMarkdown,
  txt: async () => (await import('./text.ts')).readText,
  csv: async () => (await import('./csv.ts')).readCsv,
  docx: async () => (await import('./docx.ts')).readDocx,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
  pdf: async () => (await import('./pdf.ts')).readPdf,
};
