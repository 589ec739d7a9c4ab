/** Tools of organizations' own servers: what is asked of a server, and each call. */
import { launchable, type Slice } from './slice.ts';
import { createToolCallActivities } from '../../activities/chat/toolcall.ts';
import { createToolServerActivities } from '../../activities/mcp/server.ts';
import { auditWriter } from '../../models/mcp/audit.ts';
import { ToolCallModel } from '../../models/mcp/call.ts';

export const mcp = {
  launchable: [launchable(ToolCallModel)],
  fleets: {
    tools: {
      activities: (deps) => ({
        ...createToolServerActivities(deps),
        ...createToolCallActivities({ ...deps, audit: auditWriter(deps) }),
      }),
      // A call waits for its server; servers that hang must not take the places of those that answer.
      maxActivities: 100,
      // Steps begin in workflow tasks, which ask the server what it has.
      maxWorkflowTasks: 100,
    },
  },
} as const satisfies Slice;
