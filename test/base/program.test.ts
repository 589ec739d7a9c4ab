/** How a server process starts and ends, with programs of a few lines. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';

const address = new URL('../../api/http/program.ts', import.meta.url).href;

/** Runs a program with this body of `start`, and calls `whenReady` with its process when it says that it is ready. */
async function run(start: string, whenReady: (child: ReturnType<typeof spawn>) => void = () => undefined) {
  const script = `import { runProgram } from '${address}';\nawait runProgram(async () => { ${start} });`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const said: unknown[] = [];
  child.on('message', (message) => {
    said.push(message);
    whenReady(child);
  });
  const ended = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const [code] = (await ended) as [number | null];
  return { code, said, stdout, stderr };
}

describe('a server process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'a server process that gets %s closes once, and exits with 0',
    async (signal) => {
      const start = `
      let closed = 0;
      process.on('exit', () => console.log('closed', closed));
      const close = async () => {
        closed += 1;
        process.kill(process.pid, '${signal}');
        await new Promise((done) => setTimeout(done, 50));
      };
      return { url: 'http://here', close };`;
      expect(await run(start, (child) => child.kill(signal))).toEqual({
        code: 0,
        said: [{ type: 'ready', url: 'http://here' }],
        stdout: 'closed 1\n',
        stderr: '',
      });
    },
  );

  it('a server process closes when its parent process has ended', async () => {
    const ended = await run("return { close: async () => console.log('closed') };", (child) => child.disconnect());
    expect(ended).toEqual({ code: 0, said: [{ type: 'ready' }], stdout: 'closed\n', stderr: '' });
  });

  it('a server process closes when its main task fails, and exits with 1 and the reason', async () => {
    const ended = await run(
      "return { close: async () => console.log('closed'), running: Promise.reject(new Error('broke')) };",
    );
    expect(ended).toEqual({ code: 1, said: [{ type: 'ready' }], stdout: 'closed\n', stderr: 'broke\n' });
  });

  it('a server process exits with 1 and the reason when it cannot close', async () => {
    const ended = await run("return { close: () => Promise.reject(new Error('stuck')) };", (child) => child.kill());
    expect(ended).toMatchObject({ code: 1, stderr: 'stuck\n' });
  });

  it.each([
    ["throw new Error('Temporal does not answer.');", 'Temporal does not answer.\n'],
    [
      "throw Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });",
      'The port is taken: listen EADDRINUSE. Set PORT to another one.\n',
    ],
  ])('a server process whose start fails exits with 1 and a sentence that says why: %s', async (start, sentence) => {
    expect(await run(start)).toEqual({ code: 1, said: [], stdout: '', stderr: sentence });
  });

  it('a server process that is started with an unknown option exits with 1 and a sentence that names the option', async () => {
    const { code, stderr } = await run(
      "const { parseArgs } = await import('node:util'); parseArgs({ args: ['--flet'], options: {} });",
    );
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Unknown option '--flet'.*\n$/)]);
  });

  it.each([
    ['undefined.x;', 'TypeError: Cannot read'],
    ["JSON.parse('{');", 'SyntaxError: '],
    ["throw Object.assign(new Error('no library'), { code: 'ERR_DLOPEN_FAILED' });", 'Error: no library'],
    ["await import('no-such-package');", 'Error [ERR_MODULE_NOT_FOUND]: '],
  ])(
    'a server process whose start fails by a defect or a missing module exits with 1 and the stack: %s',
    async (start, beginning) => {
      const { code, stderr } = await run(start);
      expect([code, stderr.slice(0, beginning.length)]).toEqual([1, beginning]);
      expect(stderr).toMatch(/\n {4}at /);
    },
  );
});
