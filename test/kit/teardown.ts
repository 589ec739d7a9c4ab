/** Stops what setup.ts started: first the processes, which finish their work, and then the engines. */
import type { TestRun } from './setup.ts';
import { rm } from 'node:fs/promises';

/** The globalTeardown of Jest. It fails the run when a process did not end cleanly. */
export default async function teardown(): Promise<void> {
  const run = (globalThis as { testRun?: TestRun }).testRun;
  if (!run) return;
  try {
    await Promise.all(run.processes.map((process) => process.stop()));
  } finally {
    await run.temporal.stop();
    await run.mongod.stop();
    await rm(run.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
