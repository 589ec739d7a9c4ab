/**
 * Watches the processes of a system. During the start, the first death of a process ends the system. Later the API and
 * the workers are restarted with backoff; the death of an engine still ends the system.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, readable, type Report } from './cache.ts';
import type { Guarded } from './child.ts';

/** The death of a process that the system needs. `message` names the process and shows its last lines. */
export type Failure = { name: string; message: string };

export type Watched = {
  name: string;
  child: Guarded;
  stop(child: Guarded): Promise<void>;
  /** Processes are stopped layer by layer, from the highest to the lowest. */
  layer: 0 | 1 | 2;
  /** Restarts the process. Without `restart`, the death of the process ends the system. */
  restart?: () => Promise<Guarded>;
};

export type Supervisor = {
  watch(one: Watched): void;
  /** Resolves when a process that is not restarted ends unexpectedly; stays pending otherwise. */
  failed: Promise<Failure>;
  /** After this call, processes with `restart` are restarted when they die. */
  keepUp(): void;
  pids(): number[];
  stop(): Promise<void>;
  /** Kills every process at once. */
  kill(): void;
};

/**
 * Waits until `state` returns true. A text from `state` says why it is not ready yet. `why` returns sentences that are
 * appended to the error after `ms`. @throws EngineError with the reason, when a process dies first or after `ms`
 */
export async function untilOrFailure(
  what: string,
  failed: Promise<Failure>,
  ms: number,
  state: () => Promise<boolean | string>,
  why: () => Promise<string> = async () => '',
): Promise<void> {
  const deadline = Date.now() + ms;
  const failure = failed.then(({ message }) => {
    throw new EngineError(message);
  });
  failure.catch(() => undefined);
  for (;;) {
    const found = await Promise.race([state(), failure]);
    if (found === true) return;
    if (Date.now() > deadline) {
      const seen = found === false ? '' : ` (${found})`;
      throw new EngineError(`Not within ${ms / 1000} s: ${what}${seen}. ${await why()}`.trimEnd());
    }
    await sleep(50);
  }
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** After running this long, in ms, a process is healthy: the backoff before its next restart is the shortest again. */
const healthyMs = 60_000;

/** The backoff before restarting a process that ran for `ranMs`. `before`: the previous backoff, 0 at first. */
export function restartPause(before: number, ranMs: number): number {
  return before === 0 || ranMs >= healthyMs ? firstPauseMs : Math.min(before * 2, longestPauseMs);
}

/**
 * `explain` returns sentences that say why a process died. `restarted` is called after a new process has replaced a
 * dead one.
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
    // A stop that began during the restart did not include this process, so it is stopped here.
    if (stopping.signal.aborted) return one.stop(one.child);
    // The new process id is stored before the restart is reported.
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
