/**
 * What Temporal stores of a failed activity. Error messages may quote stored, sent or read data, so only the error's
 * name and place go into a workflow's history; the whole error goes to the log.
 */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Errors about servers only; operators read in the Temporal UI which server is down. */
const aboutServers: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  'MongoServerSelectionError',
  'ServiceAway',
]);

/** The error's name, code and place, which never contain data. */
export function failureOf(error: unknown): ApplicationFailure {
  const {
    name,
    message,
    stack = '',
    code,
  } = error instanceof Error ? (error as Error & { code?: unknown }) : toError();
  const coded =
    typeof code === 'number' || (typeof code === 'string' && /^[A-Z_0-9]{1,60}$/.test(code)) ? ` ${code}` : '';
  const said = aboutServers.has(name) ? message : `${name}${coded}; the worker's log has the whole error.`;
  const failure = ApplicationFailure.create({ message: said, type: name });
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  failure.stack = [`${name}${coded}`, ...frames].join('\n');
  return failure;
}

const toError = () => ({ name: 'Error', message: '', stack: '', code: undefined });

/** Wraps every activity of a worker. Decided failures and cancellations pass unchanged. */
export const guardFailures =
  (log: Logger) =>
  ({ info, cancellationSignal }: Context): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure || cancellationSignal.aborted) throw error;
          if (error instanceof Error && error.name === 'CompleteAsyncError') throw error;
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
