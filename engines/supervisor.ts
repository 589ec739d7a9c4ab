/**
 * Watches the processes of a system. While it comes up, the first death ends it. Later the API and the workers are started
 * again, after a pause that grows while they keep dying; the death of an engine still ends the system.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readable, type Report } from './cache.ts';
import type { Guarded } from './child.ts';

/** A process died that the system cannot do without; `message` says which, and shows its last lines. */
export type Failure = { name: string; message: string };

export type Watched = {
  name: string;
  child: Guarded;
  stop(child: Guarded): Promise<void>;
  /** Layers stop from the highest to the lowest. */
  layer: 0 | 1 | 2;
  /** Starts it again; without it, its death ends the system. */
  restart?: () => Promise<Guarded>;
};

export type Supervisor = {
  watch(one: Watched): void;
  /** Resolves when a process that is not started again ends unasked; stays pending otherwise. */
  failed: Promise<Failure>;
  /** From now on, what can be started again is. */
  keepUp(): void;
  pids(): number[];
  stop(): Promise<void>;
  /** Everything is killed at once. */
  kill(): void;
};

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A process that has run this long is healthy: its next death begins with the first pause. */
const healthyMs = 60_000;

/** How long to wait before a process is started again that ran for `ranMs`; `before` is the pause of the time before, 0 at first. */
export function restartPause(before: number, ranMs: number): number {
  return before === 0 || ranMs >= healthyMs ? firstPauseMs : Math.min(before * 2, longestPauseMs);
}

/**
 * `explain` says why a process died, in sentences that can follow another one. `restarted` is told when another process has
 * taken the place of a dead one.
 */
export function createSupervisor(
  report: Report,
  explain: (one: Watched) => Promise<string>,
  restarted: () => Promise<void>,
): Supervisor {
  const all: { one: Watched; over: Promise<void> }[] = [];
  const stopping = new AbortController();
  const { promise: failed, resolve: fail } = Promise.withResolvers<Failure>();
  let keepsUp = false;

  async function startAgain(one: Watched, restart: () => Promise<Guarded>, pause: number): Promise<void> {
    await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    one.child = await restart();
    // Whoever stopped the system meanwhile did not see this one.
    if (stopping.signal.aborted) return one.stop(one.child);
    report(`${one.name} was started again.`);
    await restarted();
  }

  async function follow(one: Watched): Promise<void> {
    let pause = 0;
    for (;;) {
      const began = performance.now();
      const code = await one.child.exited;
      if (stopping.signal.aborted) return;
      const message = `${one.name} stopped with code ${code}. ${await explain(one)}`;
      if (!keepsUp || one.restart === undefined) return fail({ name: one.name, message });
      pause = restartPause(pause, performance.now() - began);
      report(`${message}\n${one.name} is started again in ${pause / 1000} s.`);
      await startAgain(one, one.restart, pause);
      if (stopping.signal.aborted) return;
    }
  }

  return {
    watch(one) {
      const over = follow(one).catch((error: unknown) =>
        fail({
          name: one.name,
          message: `${one.name} could not be started again. ${(readable(error) as Error).message}`,
        }),
      );
      all.push({ one, over });
    },
    failed,
    keepUp: () => void (keepsUp = true),
    pids: () => all.map(({ one }) => one.child.pid),
    async stop() {
      stopping.abort();
      for (const layer of [2, 1, 0]) {
        const those = all.filter(({ one }) => one.layer === layer);
        await Promise.all(those.map(({ one }) => one.stop(one.child)));
        await Promise.all(those.map(({ over }) => over));
      }
    },
    kill() {
      stopping.abort();
      for (const { one } of all) one.child.kill();
    },
  };
}
