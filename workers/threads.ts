/**
 * The threads that run workflows. The SDK gives each worker threads of its own, and a process has one worker for each
 * fleet. A thread takes some 25 MiB and a quarter of a second of processor time to start. So the workers of one process
 * share their threads.
 */
import { Worker } from '@temporalio/worker';

/**
 * The number of threads that several fleets share. While one thread replays a long history, the other thread runs other
 * workflows. A fleet alone has one thread.
 */
export const sharedThreads = 2;

/**
 * The SDK's `Worker`, whose workers share threads until the last of them has stopped. `activityNames`: the names of the
 * activities of all these workers, because a thread refuses a local activity that it does not know.
 */
export function sharingThreads(activityNames: readonly string[]): typeof Worker {
  let users = 0;
  return class Sharing extends Worker {
    static #threads: ReturnType<typeof Worker.createWorkflowCreator> | undefined;

    protected static override async createWorkflowCreator(
      ...[bundle, options, logger]: Parameters<typeof Worker.createWorkflowCreator>
    ): ReturnType<typeof Worker.createWorkflowCreator> {
      users += 1;
      const activities = new Map(activityNames.map((name) => [name, async () => undefined]));
      Sharing.#threads ??= super.createWorkflowCreator(bundle, { ...options, activities }, logger);
      const shared = await Sharing.#threads;
      return {
        createWorkflow: (workflow) => shared.createWorkflow(workflow),
        async destroy() {
          users -= 1;
          if (users === 0) await shared.destroy();
        },
      };
    }
  };
}
