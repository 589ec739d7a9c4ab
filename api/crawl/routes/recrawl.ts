/** Routes that list and remove crawl schedules. The route that starts a crawl (crawl.ts) creates them. */
import { key } from '../../access/auth.ts';
import * as contract from '../contract/crawl.ts';
import { paged } from '../../http/cursor.ts';
import { launch } from '../../../workflows/start.ts';
import { viewSchedule } from '../recrawl.ts';
import { route } from '../../http/route.ts';
import { newId } from '../../../models/base/ids.ts';
import { countRecrawls, listRecrawls, RecrawlModel, removeRecrawl } from '../../../models/crawl/recrawl.ts';
import { noSuch } from '../../../models/rules/base/errors.ts';
import { arrangeRecrawlWork } from '../../../models/rules/crawl/work.ts';

export const recrawlRoutes = [
  route(contract.listCrawlSchedules, {
    summary: 'List the sites that are crawled again and again, newest first.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listRecrawls(orgId, modes, limit, after)),
        countRecrawls(orgId, modes),
      ]);
      const now = ctx.clock();
      return { schedules: entries.map((entry) => viewSchedule(entry, now)), count, cursor };
    },
  }),
  route(contract.deleteCrawlSchedule, {
    summary: 'Remove a schedule; when this returns it begins no further crawl. A running one goes on.',
    auth: key('support:write'),
    async handle({ params: { orgId, scheduleId }, principal: { modes } }, ctx) {
      const work = arrangeRecrawlWork(orgId, scheduleId, newId('request'));
      const removed = await launch(ctx, RecrawlModel, [work], ([intent]) =>
        removeRecrawl(orgId, modes, scheduleId, intent),
      );
      if (!removed) {
        throw noSuch('schedule');
      }
      return { schedule_id: scheduleId, deleted: true as const };
    },
  }),
];
