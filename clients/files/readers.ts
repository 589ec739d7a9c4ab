/** Loads the reader for a file type. Readers run only inside a file process and in tests. */
import type { Blocks, Limits } from './limits.ts';
import type { FileType } from '../../models/rules/knowledge/document.ts';

/** The readable types: those of the knowledge base, and PDF for resumes. */
export type ReadableType = FileType | 'pdf';
export type Reader = (bytes: Buffer, limits: Limits) => Blocks | Promise<Blocks>;

/**
 * Readers are loaded one by one. An idle process loads several in advance; a process whose file has arrived loads only
 * the requested one.
 */
export const readers: Record<ReadableType, () => Promise<Reader>> = {
  md: async () => (await import('./text.ts')).readMarkdown,
  txt: async () => (await import('./text.ts')).readText,
  csv: async () => (await import('./csv.ts')).readCsv,
  docx: async () => (await import('./docx.ts')).readDocx,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
  pdf: async () => (await import('./pdf.ts')).readPdf,
};
