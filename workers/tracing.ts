/** Runs each activity in a span of its workflow's trace. */
import type { Context } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { inSpan } from '../clients/base/tracing.ts';
import { traceHeader } from '../models/rules/base/trace.ts';

export const traceActivity = ({ info }: Context): ActivityInterceptors => ({
  inbound: {
    execute(input, next) {
      const header = input.headers[traceHeader];
      const parent = header ? defaultPayloadConverter.fromPayload<string>(header) : undefined;
      const attributes = {
        workflow_id: info.workflowExecution?.workflowId ?? '',
        fleet: info.taskQueue,
        attempt: info.attempt,
      };
      return inSpan(info.activityType, { parent, attributes }, () => next(input));
    },
  },
});
