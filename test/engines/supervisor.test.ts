import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { until } from '../kit/harness.ts';
import { startGuarded, type Guarded } from '../../engines/child.ts';
import { createSupervisor } from '../../engines/supervisor.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'supervisor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('a restart is reported only after the new process id is stored', async () => {
  const start = (): Promise<Guarded> => startGuarded({ command: 'sleep', args: ['600'], logPath: join(folder, 'log') });
  const first = await start();
  const seen: string[] = [];
  const remembering = Promise.withResolvers<void>();
  const supervisor = createSupervisor(
    (line) => void seen.push(line.split('\n').at(-1)!),
    async () => 'It was killed.',
    async () => {
      seen.push(`remembering ${supervisor.pids().filter((pid) => pid !== first.pid).length}`);
      await remembering.promise;
      seen.push('remembered');
    },
  );
  supervisor.watch({ name: 'The API', child: first, stop: (child) => child.stop(), layer: 2, restart: start });
  supervisor.keepUp();
  first.kill();
  try {
    await until(
      async () => seen.includes('remembering 1'),
      () => `the process to be remembered; seen: ${seen.join()}`,
    );
    expect(seen).toEqual(['The API is started again in 1 s.', 'remembering 1']);
    remembering.resolve();
    await until(
      async () => seen.length === 4,
      () => `it to be said; seen: ${seen.join()}`,
    );
    expect(seen.slice(2)).toEqual(['remembered', 'The API was started again.']);
  } finally {
    remembering.resolve();
    await supervisor.stop();
  }
});
