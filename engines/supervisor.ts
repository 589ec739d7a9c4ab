/**
 * Watches the processes of a system. While the system starts, the first death ends it. Later the API and the workers
 * are restarted, after a pause that grows while they keep dying; the death of an engine still ends the system.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readable, type Report } from './cache.ts';
import type { Guarded } from './child.ts';

/** The death of a process that the system cannot do without; `message` names it and shows its last lines. */
export type Failure = { name: string; message: string };

export type Watched = {
  name: string;
  child: Guarded;
  stop(child: Guarded): Promise<void>;
  /** Layers stop from the highest number to the lowest. */
  layer: 0 | 1 | 2;
  /** Restarts it; without this, its death ends the system. */
  restart?: () => Promise<Guarded>;
};

export type Supervisor = {
  watch(one: Watched): void;
  /** Resolves when a process ends unexpectedly that is not restarted; stays pending otherwise. */
  failed: Promise<Failure>;
  /** From now on, processes that can be restarted are. */
  keepUp(): void;
  pids(): number[];
  stop(): Promise<void>;
  /** Kills everything at once. */
  kill(): void;
};

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A process that has run this long is healthy: after its next death the pause is the shortest again. */
const healthyMs = 60_000;

/** How long to wait before restarting a process that ran for `ranMs`; `before` is the previous pause, 0 at first. */
export function restartPause(before: number, ranMs: number): number {
  return before === 0 || ranMs >= healthyMs ? firstPauseMs : Math.min(before * 2, longestPauseMs);
}

/**
 * `explain` says why a process died, in sentences that can follow another one. `restarted` is called when a new process
 * has replaced a dead one.
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
    // A stop that began during the restart did not see this process.
    if (stopping.signal.aborted) return one.stop(one.child);
    // Whoever reads that it runs finds the new process where the pids are written.
    await restarted();
    report(`${one.name} was started again.`);
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
