/**
 * Passes the current trace to Temporal in the headers of signals and updates; the start of a workflow passes the trace
 * in its memo.
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { currentTrace } from '../models/base/trace.ts';
import { traceHeader } from '../models/rules/base/trace.ts';

const withTrace = <I extends { headers: Headers }>(input: I): I => {
  const trace = currentTrace();
  return trace === undefined
    ? input
    : { ...input, headers: { ...input.headers, [traceHeader]: defaultPayloadConverter.toPayload(trace) } };
};

/** The interceptor that the Temporal clients of all processes use. */
export const carryTrace: WorkflowClientInterceptor = {
  signal: (input, next) => next(withTrace(input)),
  signalWithStart: (input, next) => next(withTrace(input)),
  startUpdate: (input, next) => next(withTrace(input)),
};
