import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { until } from '../kit/harness.ts';
import { EngineError } from '../../engines/cache.ts';
import { startGuarded, type Guarded } from '../../engines/child.ts';
import { createSupervisor, untilOrFailure, type Failure } from '../../engines/supervisor.ts';

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

it('a wait ends when the awaited state is reached, when a process dies, or after its time limit', async () => {
  const never = new Promise<Failure>(() => undefined);
  await untilOrFailure('it answers', never, 1000, async () => true);
  const dead = Promise.resolve({ name: 'The API', message: 'The API stopped with code 1.' });
  const waiting = untilOrFailure('it answers', dead, 1000, () => new Promise(() => undefined));
  await expect(waiting).rejects.toThrow('The API stopped with code 1.');
  const late = untilOrFailure('it answers', never, 0, async () => (await sleep(5), '503'));
  await expect(late).rejects.toThrow(new EngineError('Not within 0 s: it answers (503).'));
  const silent = untilOrFailure(
    'it is ready',
    never,
    0,
    async () => (await sleep(5), false),
    async () => 'No server answers at TEMPORAL_ADDRESS.',
  );
  await expect(silent).rejects.toThrow('Not within 0 s: it is ready. No server answers at TEMPORAL_ADDRESS.');
});
