/**
 * What somebody asks of a tool server while they wait: its tools, or a sign-in. Each is one activity, so that only workers
 * reach out of the system; what comes of it is in MongoDB. A failure is told, not tried for ever.
 */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { Asked, GrantRef, Prepared, ToolServerActivities, ToolServerRef } from '../../activities/mcp/server.ts';

const { listServerTools, prepareSignIn, finishSignIn } = proxyActivities<ToolServerActivities>({
  ...throughOutages,
  // A list has pages, each with a limit of its own. Whoever asked has gone by then.
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '20 seconds',
});

export const discoverTools = (ref: ToolServerRef): Promise<Asked> => listServerTools(ref);
export const beginToolGrant = (ref: GrantRef): Promise<Prepared> => prepareSignIn(ref);
export const finishToolGrant = (ref: GrantRef): Promise<Asked> => finishSignIn(ref);
