import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createFiles, type Files } from '../../clients/files/files.ts';
import { defaultLimits } from '../../clients/files/limits.ts';
import { readers as unbundled } from '../../clients/files/readers.ts';
import { createPages } from '../../clients/crawl/site/pages.ts';
import { pdfText } from '../kit/badpdfs.ts';
import { buildReaders, type Readers } from '../../workers/readers.ts';

let folder: string;
let readers: Readers;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'support-readers-'));
  readers = await buildReaders(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('built readers', () => {
  let files: Files;
  beforeAll(() => {
    files = createFiles({ program: readers.files, spares: 0 });
  });
  afterAll(() => files.close());

  it.each([
    ['md', 'help.md'],
    ['csv', 'branches.csv'],
    ['docx', 'cards.docx'],
    ['xlsx', 'fees.xlsx'],
  ] as const)('the bundled reader reads a %s file as the unbundled reader does', async (type, name) => {
    const bytes = await readFile(join(import.meta.dirname, '../fixtures', name));
    const blocks = await files.extract(Readable.from(bytes), type);
    expect(blocks.length).toBeGreaterThan(0);
    const read = await unbundled[type]();
    expect(blocks).toEqual((await read(bytes, defaultLimits)).list);
  });

  it('the bundled reader reads the lines of a PDF', async () => {
    const lines = ['Ana Gomez', 'Led a team at Contoso'];
    const blocks = await files.extract(Readable.from(pdfText(lines)), 'pdf');
    expect(blocks).toEqual([{ kind: 'text', text: lines.join('\n') }]);
  });

  it('the bundled reader reads a mail', async () => {
    const mail = 'From: Ada <ada@example.com>\r\nSubject: Hello\r\nMessage-ID: <a@example.com>\r\n\r\nWhere is it?\r\n';
    expect(await files.mail(Readable.from(Buffer.from(mail)))).toMatchObject({
      subject: 'Hello',
      text: 'Where is it?',
    });
  });

  it('the bundled reader reads a web page', async () => {
    const pages = createPages({ program: readers.pages });
    try {
      const body = Buffer.from('<main><h1>Returns</h1><p>You can send it back within 30 days.</p></main>');
      const read = await pages.read({ url: 'https://shop.example/returns', contentType: 'text/html', body });
      expect(read.chunks).toMatchObject([{ heading: 'Returns', text: expect.stringContaining('30 days') }]);
    } finally {
      await pages.close();
    }
  });

  it('the bundled readers of the last two versions are kept for workers that still run', async () => {
    const [own] = await readdir(folder);
    const built = (await stat(readers.files)).mtimeMs;
    for (const [age, name] of ['a', 'b', 'c'].map((letter) => `readers-${letter.repeat(32)}`).entries()) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'files.mjs'), '');
      await utimes(join(folder, name), 1, 1_000 + age);
    }
    await writeFile(join(folder, 'secret.key'), 'not ours');
    expect(await buildReaders(folder)).toEqual(readers);
    expect((await stat(readers.files)).mtimeMs).toBe(built);
    expect((await readdir(folder)).sort()).toEqual(
      [own, `readers-${'b'.repeat(32)}`, `readers-${'c'.repeat(32)}`, 'secret.key'].sort(),
    );
    expect(basename(dirname(readers.files))).toBe(own);
  });

  it('workers that bundle the readers at the same time all get a complete bundle', async () => {
    const other = await mkdtemp(join(tmpdir(), 'support-readers-'));
    const made = await Promise.all([buildReaders(other), buildReaders(other)]);
    expect(made[0]).toEqual(made[1]);
    expect(await readdir(other)).toEqual([expect.stringMatching(/^readers-[0-9a-f]{32}$/)]);
    await rm(other, { recursive: true });
  });

  it('bundling the code of the file readers fails when the output folder cannot be created', async () => {
    await writeFile(join(folder, 'a file'), '');
    await expect(buildReaders(join(folder, 'a file', 'below'))).rejects.toThrow('ENOTDIR');
  });
});
