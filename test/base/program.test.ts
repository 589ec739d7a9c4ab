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
  it.each(['SIGTERM', 'SIGINT'] as const)('closes once on %s, and exits with 0', async (signal) => {
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
  });

  it('closes when its parent process has ended', async () => {
    const ended = await run("return { close: async () => console.log('closed') };", (child) => child.disconnect());
    expect(ended).toEqual({ code: 0, said: [{ type: 'ready' }], stdout: 'closed\n', stderr: '' });
  });

  it('closes when what runs in it fails, and exits with 1 and the reason', async () => {
    const ended = await run(
      "return { close: async () => console.log('closed'), running: Promise.reject(new Error('broke')) };",
    );
    expect(ended).toEqual({ code: 1, said: [{ type: 'ready' }], stdout: 'closed\n', stderr: 'broke\n' });
  });

  it('exits with 1 and the reason when it cannot close', async () => {
    const ended = await run("return { close: () => Promise.reject(new Error('stuck')) };", (child) => child.kill());
    expect(ended).toMatchObject({ code: 1, stderr: 'stuck\n' });
  });

  it.each([
    ["throw new Error('Temporal does not answer.');", 'Temporal does not answer.\n'],
    [
      "throw Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });",
      'The port is taken: listen EADDRINUSE. Set PORT to another one.\n',
    ],
  ])('exits with 1 and a sentence when the start fails: %s', async (start, sentence) => {
    expect(await run(start)).toEqual({ code: 1, said: [], stdout: '', stderr: sentence });
  });
});
