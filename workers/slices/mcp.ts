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
      // A call waits for its tool server. Calls to a server that hangs must not block calls to other servers.
      maxActivities: 100,
      // Steps of a call run as local activities within a workflow task, so the workflow task waits for the tool server,
      // too.
      maxWorkflowTasks: 100,
    },
  },
} as const satisfies Slice;
