import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it, expect } from '@jest/globals';
import { goOnLines, judge } from '../../cli/demo.ts';
import { freePort } from '../../engines/ports.ts';
import { system } from '../kit/harness.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = join(root, 'test', 'fixtures');

async function demo(
  args: readonly string[] = [],
  url = system().url,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(root, 'cli', 'demo.ts'), ...args], {
    env: { PATH: process.env['PATH'], SUPPORT_URL: url, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

describe('npm run demo', () => {
  it('the demo answers from a file of every type, filters by segment, and says when it does not know', async () => {
    const { code, stdout, stderr } = await demo();
    expect({ code, stderr, wrong: stdout.match(/WRONG.*/g) }).toEqual({ code: 0, stderr: '', wrong: null });
    const { documents, questions } = JSON.parse(await readFile(join(fixtures, 'questions.json'), 'utf8')) as {
      documents: { filename: string }[];
      questions: { question: string; segment?: string; source: string | null }[];
    };
    for (const { filename } of documents) expect(stdout).toContain(`${filename}: indexed, `);
    for (const { question } of questions) expect(stdout).toContain(question);
    const types = new Set(questions.map(({ source }) => source?.split('.').at(-1)));
    expect(types).toEqual(new Set(['md', 'docx', 'xlsx', 'csv', 'txt', undefined]));
    expect(questions.some(({ segment }) => segment !== undefined)).toBe(true);
    expect(stdout).toContain(`${questions.length} of ${questions.length} answers are as expected.`);
    expect(stdout).toMatch(/The demo took [\d.]+ s\.\n$/);

    const { password, email } =
      /the password is (?<password>\S+)\):\n +export SUPPORT_URL=\S+ && npm run -s cli -- login --email (?<email>\S+)\n/.exec(
        stdout,
      )!.groups!;
    const login = await fetch(`${system().url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { data } = (await login.json()) as { data: { organizations: { name: string; role: string }[] } };
    expect(data.organizations).toMatchObject([{ name: 'Lindenbank', role: 'owner' }]);
  });

  it('the demo prints the command that logs in, without the default server address', () => {
    const owner = { email: 'demo@example.com', password: 'secret' };
    expect(goOnLines('http://127.0.0.1:3000/v1', owner)).toContain(
      '  npm run -s cli -- login --email demo@example.com',
    );
  });

  it('the demo ends with exit code 1 when an answer has an unexpected source', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'support-demo-test-'));
    try {
      for (const name of ['security.txt', 'branches.csv']) await cp(join(fixtures, name), join(folder, name));
      const questions = [
        { question: 'When is the branch in Rostock open on weekdays?', source: 'security.txt', contains: '8:30' },
        { question: 'When is the branch in Leipzig open on weekdays?', source: null, contains: null },
        { question: 'When is the branch in Dresden open on weekdays?', source: 'branches.csv', contains: '9:00-16:00' },
      ];
      const documents = ['security.txt', 'branches.csv'].map((filename) => ({ filename, segments: [] }));
      await writeFile(join(folder, 'questions.json'), JSON.stringify({ documents, questions }));
      const { code, stdout } = await demo([folder]);
      expect(code).toBe(1);
      expect(stdout.match(/WRONG.*/g)).toEqual([
        'WRONG: expected security.txt among the sources',
        'WRONG: expected no answer: the documents do not say this',
      ]);
      expect(stdout).toContain('1 of 3 answers are as expected.');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('the demo ends with exit code 1 when no system answers, and says what to do', async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    expect(await demo([], url)).toEqual({
      code: 1,
      stdout: '',
      stderr: `No ready system answers at ${url}; start one with npm start, or name another address in SUPPORT_URL.\n`,
    });
  });

  it('the demo counts an answer without the expected words as wrong, even with the right source', () => {
    const answer = {
      answer: 'It costs\n2 EUR.',
      sources: [{ type: 'document' as const, id: 'doc_1', name: 'fees.xlsx', score: 1 }],
      has_context: true,
      generated_by: 'extractive' as const,
      degraded: false,
    };
    const docIds = new Map([['fees.xlsx', 'doc_1']]);
    const question = { question: 'What does it cost?', source: 'fees.xlsx' };
    expect(judge({ ...question, contains: 'costs 2 eur' }, answer, docIds)).toEqual([]);
    expect(judge({ ...question, contains: '3 EUR' }, answer, docIds)).toEqual(['expected the answer to say “3 EUR”']);
  });
});
