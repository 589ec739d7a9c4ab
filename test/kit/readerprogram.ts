/** The path of the built program that reads files, which starts in a third of the time of its sources. */
import { buildReaders } from '../../workers/readers.ts';

export const readerProgram = async (): Promise<string> => (await buildReaders(process.env['TEST_BUILT']!)).files;
