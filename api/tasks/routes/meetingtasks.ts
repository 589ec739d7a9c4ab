/** Routes by which a meeting's owner extracts and lists the tasks of the meeting. */
import { jwt } from '../../access/auth.ts';
import * as contract from '../contract/tasks.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { foundMeeting } from '../../interviews/meeting.ts';
import { extractFrom, organizationOf } from '../extraction.ts';
import { viewTask } from '../task.ts';
import { organizationIdsOf } from '../../../models/access/organization.ts';
import { listExtracted } from '../../../models/tasks/extracted.ts';
import { countLinked, listTasks } from '../../../models/tasks/task.ts';

export const meetingTaskRoutes = [
  route(contract.extractTasks, {
    summary: 'Make tasks of what was promised and asked for in a meeting of yours, each once.',
    auth: jwt,
    errors: ['NO_TRANSCRIPT', 'UNAVAILABLE'],
    async handle({ params: { sessionId }, body: { org_id }, principal: { userId } }, ctx) {
      const meeting = await foundMeeting(userId, sessionId);
      const org = await organizationOf(userId, org_id);
      const found = await extractFrom(ctx, meeting, org);
      const tasks = await listExtracted(sessionId, org_id);
      return { ...found, tasks: tasks.map(viewTask), count: tasks.length };
    },
  }),
  route(contract.listMeetingTasks, {
    summary: 'The tasks that are linked to a meeting of yours, the newest first.',
    auth: jwt,
    async handle({ params: { sessionId }, query, principal: { userId } }) {
      await foundMeeting(userId, sessionId);
      const orgIds =
        query.org_id === undefined
          ? await organizationIdsOf(userId)
          : [(await organizationOf(userId, query.org_id))._id];
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listTasks(orgIds, { sessionId }, limit, after)),
        countLinked(orgIds, sessionId),
      ]);
      return { tasks: entries.map(viewTask), count, cursor };
    },
  }),
];
