/** Benchmarks of tasks: execution in failing issue trackers (taskexecution.ts), and long lists (tasklisting.ts). */
import { onStage } from './stage.ts';
import { measure, prepare } from './taskexecution.ts';
import { listing } from './tasklisting.ts';

export async function run(): Promise<void> {
  const execution = await prepare();
  const missed: string[] = [];
  try {
    await onStage(async (stage) => {
      missed.push(...(await measure(stage, execution)));
      await listing(stage);
    }, execution.settings);
  } finally {
    await execution.close();
  }
  console.log(missed.length === 0 ? 'Every task became one issue.' : `Not reached: ${missed.join('; ')}`);
}
