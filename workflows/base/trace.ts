/**
 * Passes the trace of the caller that started or signalled a workflow on to the workflow's activities and child
 * workflows. The trace comes from the memo of the start, or from the header of the latest signal or update. The
 * workflow makes no spans of its own.
 */
import { workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { traceHeader } from '../../models/rules/base/trace.ts';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let signalled: string | undefined;
  const current = (): string | undefined => signalled ?? (workflowInfo().memo?.[traceHeader] as string | undefined);
  const hear = (headers: Headers): void => {
    const heard = headers[traceHeader];
    if (heard) signalled = defaultPayloadConverter.fromPayload<string>(heard);
  };
  const withTrace = <I extends { headers: Headers }>(input: I): I => {
    const trace = current();
    if (trace === undefined) return input;
    return { ...input, headers: { ...input.headers, [traceHeader]: defaultPayloadConverter.toPayload(trace) } };
  };
  return {
    inbound: [
      {
        async handleSignal(input, next) {
          hear(input.headers);
          return next(input);
        },
        async handleUpdate(input, next) {
          hear(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution(input, next) {
          const trace = current();
          const memo = { ...input.options.memo, ...(trace === undefined ? {} : { [traceHeader]: trace }) };
          return next({ ...input, options: { ...input.options, memo } });
        },
      },
    ],
  };
};
