/** Tasks: long lists of them. */
import { onStage } from './stage.ts';
import { listing } from './tasklisting.ts';

export async function run(): Promise<void> {
  await onStage(listing);
}
