/**
 * Controls what Temporal stores of a failed activity. Error messages may quote user data, so only the error's name and
 * location go into the workflow's history; the log gets the whole error.
 */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';

/**
 * The names and codes of errors whose messages describe only servers, so operators may read them in the Temporal UI.
 */
const aboutServers: ReadonlySet<string> = new Set([
  'MODEL_FAILED',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  'MongoServerSelectionError',
  'ServiceAway',
]);

/**
 * A failure with the error's name, code and location, which never contain user data. It keeps the message of an error
 * that `aboutServers` lists.
 */
export function failureOf(error: unknown): ApplicationFailure {
  const {
    name,
    message,
    stack = '',
    code,
  } = error instanceof Error ? (error as Error & { code?: unknown }) : toError();
  const coded =
    typeof code === 'number' || (typeof code === 'string' && /^[A-Z_0-9]{1,60}$/.test(code)) ? ` ${code}` : '';
  const said =
    aboutServers.has(name) || aboutServers.has(String(code))
      ? message
      : `${name}${coded}; the worker's log has the whole error.`;
  const failure = ApplicationFailure.create({ message: said, type: name });
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  failure.stack = [`${name}${coded}`, ...frames].join('\n');
  return failure;
}

const toError = () => ({ name: 'Error', message: '', stack: '', code: undefined });

/**
 * Wraps every activity of a worker. Temporal's own failures, which activities throw on purpose, and cancellations are
 * rethrown unchanged. Any other error is logged and replaced by a failure without user data.
 */
export const guardFailures =
  (log: Logger) =>
  ({ info, cancellationSignal }: Context): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          const name = error instanceof Error ? error.name : undefined;
          if (error instanceof TemporalFailure || name === 'CompleteAsyncError') throw error;
          if (cancellationSignal.aborted && name === 'AbortError') throw error;
          const { activityType: activity, attempt, workflowExecution } = info;
          log.warn(
            { err: error, activity, attempt, workflow_id: workflowExecution?.workflowId },
            'an activity failed and is tried again',
          );
          throw failureOf(error);
        }
      },
    },
  });
