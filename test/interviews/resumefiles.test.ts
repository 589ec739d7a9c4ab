/**
 * Reading resumes: text in human reading order, and hostile PDFs that this test generates. Each is read in a real
 * process, and refused with a reason within limits of memory and time.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createResumeFiles } from '../../api/interviews/resumefiles.ts';
import { createFiles, type Files } from '../../clients/files/files.ts';
import { residentMb } from '../../clients/base/sandbox.ts';
import { readingOrder } from '../../clients/files/layout.ts';
import { detectResume, resumeText } from '../../models/rules/interviews/resume.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { zipBombDocx } from '../kit/badfiles.ts';
import * as pdfs from '../kit/badpdfs.ts';

let files: Files;
/** With one second of processor time, for files that may use all of it. */
let hasty: Files;
beforeAll(() => {
  // The processor time is less than in production, so that a file that uses it up fails soon.
  files = createFiles({ timeoutMs: 55_000, spares: 0, pdfSeconds: 3 });
  hasty = createFiles({ timeoutMs: 55_000, spares: 0, pdfSeconds: 1 });
});
afterAll(() => Promise.all([files.close(), hasty.close()]));

const read = async (bytes: Buffer, type: 'pdf' | 'docx' = 'pdf', by = files): Promise<string> =>
  resumeText(await by.extract(Readable.from([bytes]), type));
const reasonOf = (reading: Promise<string>): Promise<string> =>
  reading.then(
    (text) => `read: ${text.slice(0, 100)}`,
    (error: unknown) => {
      if (error instanceof Unreadable) return error.reason;
      throw error;
    },
  );

/** The ids of this process's child processes. A thread that has just ended has none. */
function children(): number[] {
  const childrenOf = (task: string): string => {
    try {
      return readFileSync(`/proc/${process.pid}/task/${task}/children`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync(`/proc/${process.pid}/task`).flatMap((task) => childrenOf(task).match(/\d+/g)?.map(Number) ?? []);
}

/** Awaits `work`; also returns the highest memory that any child process used meanwhile, in MiB. */
async function watching<T>(work: Promise<T>): Promise<{ result: T; peakMb: number }> {
  let peakMb = 0;
  const look = setInterval(() => {
    for (const id of children()) peakMb = Math.max(peakMb, residentMb(id) ?? 0);
  }, 10);
  try {
    return { result: await work, peakMb };
  } finally {
    clearInterval(look);
  }
}

it('the API reads resumes with the built reader program, and looks for this program once, when the first resume arrives', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'resumefiles-'));
  const program = join(folder, 'files.mjs');
  const reply = JSON.stringify({ ok: true, result: [{ kind: 'text', text: 'Read by the built program' }] });
  writeFileSync(program, `process.stdin.on('end', () => console.log(${JSON.stringify(reply)})).resume();`);
  let asked = 0;
  const resumes = createResumeFiles(async () => {
    asked += 1;
    return program;
  });
  try {
    expect(asked).toBe(0);
    const pdf = () => Readable.from([pdfs.pdfText(['Ana Gomez'])]);
    const both = await Promise.all([resumes.extract(pdf(), 'pdf'), resumes.extract(pdf(), 'pdf')]);
    expect(both.map(resumeText)).toEqual(['Read by the built program', 'Read by the built program']);
    expect(asked).toBe(1);
  } finally {
    await resumes.close();
    rmSync(folder, { recursive: true });
  }
});

it('the API reads resumes with the source files of the reader program when there is no built program', async () => {
  const resumes = createResumeFiles(async () => undefined);
  try {
    const text = resumeText(await resumes.extract(Readable.from([pdfs.pdfText(['Ana Gomez'])]), 'pdf'));
    expect(text).toBe('Ana Gomez');
  } finally {
    await resumes.close();
  }
});

describe('a PDF', () => {
  it('the text of a PDF is read as written, including brackets', async () => {
    expect(await read(pdfs.pdfText(['Ana Gomez', 'Led a team (of five) at Contoso']))).toBe(
      'Ana Gomez\nLed a team (of five) at Contoso',
    );
  });
  it('a PDF is read column by column, in whatever order it was drawn', async () => {
    const left = ['SKILLS', 'Go', 'PostgreSQL', 'Kubernetes'];
    const right = ['WORK', 'Led the payments team', 'Cut the latency by half', 'Taught new colleagues'];
    const column = (lines: readonly string[], x: number) => lines.map((text, row) => ({ text, x, y: 700 - row * 18 }));
    const byRows = left.flatMap((_, row) => [column(left, 72)[row]!, column(right, 300)[row]!]);
    for (const words of [byRows, byRows.toReversed()])
      expect(await read(pdfs.pdfPage({ data: pdfs.drawing(words) }))).toBe([...left, ...right].join('\n'));
  });
  it('a PDF protected only by an owner password is readable, and scripts in a PDF never run', async () => {
    expect(await read(pdfs.encryptedPdf('Built what everybody may read', ''))).toBe('Built what everybody may read');
    expect(await read(pdfs.scripted())).toBe('Built a harmless service with care');
  });
  it('the existing pages of a PDF that claims to have two billion pages are read', async () => {
    expect(await read(pdfs.pageLie())).toContain('Led the only page that there is');
  });
  it.each<[string, () => Buffer, string[]]>([
    ['encrypted for readers', () => pdfs.encryptedPdf('secret', 'password'), ['encrypted']],
    ['a page tree that contains itself', pdfs.pageLoop, ['broken']],
    ['random bytes', pdfs.randomPdf, ['broken']],
    ['pictures alone', pdfs.pictureOnly, ['scanned']],
    ['a gigabyte in a stream', () => pdfs.streamBomb(), ['out_of_memory']],
    ['a gigabyte deflated twice', () => pdfs.twiceDeflated(), ['out_of_memory']],
    ['180 MB of operators', () => pdfs.operators(), ['out_of_memory', 'timed_out', 'too_much_text']],
    ['forms that draw each other twice', () => pdfs.nestedForms(), ['timed_out', 'too_much_text']],
    ['two million saved states', () => pdfs.savedStates(), ['timed_out', 'out_of_memory']],
  ])('a PDF of the hostile kind “%s” is refused with a reason, within 700 MB of memory', async (_, make, reasons) => {
    const by = reasons.includes('timed_out') && !reasons.includes('out_of_memory') ? hasty : files;
    const { result, peakMb } = await watching(reasonOf(read(make(), 'pdf', by)));
    expect(reasons).toContain(result);
    expect(peakMb).toBeLessThan(700);
  });
  it('a good PDF is still read after all the hostile ones', async () => {
    expect(await read(pdfs.pdfText(['Still alive']))).toBe('Still alive');
  });
});

describe('a DOCX', () => {
  it('a DOCX that is a zip bomb is refused with the reason `bomb`', async () => {
    expect(await reasonOf(read(zipBombDocx(), 'docx'))).toBe('bomb');
  });
});

describe('detectResume', () => {
  const head = (text: string) => Buffer.from(text);
  it('the type of a resume file is decided by its content first, then by its file name', () => {
    expect(detectResume(head('%PDF-1.7'), 'resume.docx')).toBe('pdf');
    expect(detectResume(head('garbage'), 'Resume.PDF')).toBe('pdf');
    expect(detectResume(head('PK\u0003\u0004'), 'cv.docx', ['word/document.xml'])).toBe('docx');
  });
  it.each(['cv.txt', 'cv', 'cv.docx'])('a resume that is plain text named %s is refused', (name) => {
    expect(() => detectResume(head('Ana Gomez'), name)).toThrow('PDF or a DOCX');
  });
  it('a resume that is an empty file is refused', () =>
    expect(() => detectResume(head(''), 'cv.pdf')).toThrow('empty'));
});

describe('readingOrder', () => {
  const at = (text: string, x: number, y: number) => ({ text, x, y, width: text.length * 6, height: 11 });
  it('the text of a resume keeps a date on the line of its heading', () => {
    const pieces = [
      at('Senior Developer', 72, 700),
      at('2019 - 2023', 420, 700),
      at('Contoso', 72, 684),
      at('Berlin', 420, 684),
    ];
    expect(readingOrder(pieces)).toEqual(['Senior Developer 2019 - 2023', 'Contoso Berlin']);
  });
  it('the text of a resume joins the letters of a word, and separates words', () => {
    expect(readingOrder([at('W', 72, 700), at('ork', 78, 700), at('done', 100, 700)])).toEqual(['Work done']);
  });
});
