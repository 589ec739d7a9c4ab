/** The reader of resumes, which is opened when the first resume arrives. */
import { createFiles, type Files } from '../../clients/files/files.ts';

/** At most this many resumes are read at once, because a malicious one takes up to 700 MiB before it is refused. */
const resumesAtOnce = 2;

export type ResumeFiles = Pick<Files, 'extract' | 'close'>;

/**
 * `findProgram` returns the path of the built program that reads resumes. Without one it returns undefined, and the
 * sources are run instead. It is called at the first resume, because building the program takes a second, and the start
 * of the API must not wait for this.
 */
export function createResumeFiles(findProgram: () => Promise<string | undefined>): ResumeFiles {
  let opening: Promise<Files> | undefined;
  const open = (): Promise<Files> =>
    (opening ??= findProgram().then((program) => createFiles({ program, spares: 0, atOnce: resumesAtOnce })));
  return {
    extract: async (...args) => (await open()).extract(...args),
    close: async () => (await opening)?.close(),
  };
}
