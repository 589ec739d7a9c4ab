/** Counts the signals of a workflow, so that the workflow notices signals that arrive while it works. */
import { setHandler } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';

/** Handles the signal from now on. Returns a function that returns how often the signal has arrived so far. */
export function newsOf(signal: SignalDefinition): () => number {
  let news = 0;
  setHandler(signal, () => void (news += 1));
  return () => news;
}
