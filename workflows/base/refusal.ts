/** How a workflow's validator refuses an update, with a message that the API passes on to the caller. */
import { ApplicationFailure } from '@temporalio/common';

/** `allowed`: the operations that are possible in the state `from`. */
export type Transition = { from: string; operation: string; allowed: string[] };

const refusalType = 'IllegalTransition';

/** `message` is shown to callers. Pass `transition` when the refusal comes from a table of states. */
export const refusal = (message: string, transition?: Transition): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: refusalType,
    nonRetryable: true,
    details: transition ? [transition] : [],
  });

/** The content of a refusal; undefined for any other failure, whose message must not reach callers. */
export function readRefusal(error: unknown): { message: string; transition: Transition | undefined } | undefined {
  if (!(error instanceof ApplicationFailure) || error.type !== refusalType) return undefined;
  const { message, details } = error;
  return { message, transition: details?.[0] as Transition | undefined };
}
