/**
 * Requests to a tool server that a person waits for: listing its tools, or a sign-in. Each request is one activity, so
 * that only workers connect to other systems. The results are in MongoDB. A failure is reported instead of retried
 * forever.
 */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { Asked, GrantRef, Prepared, ToolServerActivities, ToolServerRef } from '../../activities/mcp/server.ts';

const { listServerTools, prepareSignIn, finishSignIn } = proxyActivities<ToolServerActivities>({
  ...throughOutages,
  // A list may have several pages, each with its own timeout. The caller waits no longer than this.
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '20 seconds',
});

export const discoverTools = (ref: ToolServerRef): Promise<Asked> => listServerTools(ref);
export const beginToolGrant = (ref: GrantRef): Promise<Prepared> => prepareSignIn(ref);
export const finishToolGrant = (ref: GrantRef): Promise<Asked> => finishSignIn(ref);
