import { key } from '../../access/auth.ts';
import * as contract from '../contract/statistics.ts';
import { route } from '../../http/route.ts';
import { findOrganization } from '../../../models/access/organization.ts';
import { listCounted } from '../../../models/chat/statistics.ts';
import { openTime } from '../../../models/rules/access/hours.ts';
import { invalid } from '../../../models/rules/base/errors.ts';
import { grouped, summarize } from '../../../models/rules/chat/statistics.ts';

const dayMs = 86_400_000;
/** The longest period that a request may ask for, in days. */
const maxDays = 366;
/** The most conversations in the period of a request, because their fields are held in memory. */
const maxCounted = 200_000;

export const statisticsRoutes = [
  route(contract.getStatistics, {
    summary: 'How many conversations there were, what came of them, and how long customers waited.',
    auth: key('support:read'),
    limit: 'queries',
    async handle({ params: { orgId }, query, principal }, ctx) {
      const now = ctx.clock();
      const until = query.until === undefined ? now : new Date(query.until);
      const from = query.from === undefined ? new Date(until.getTime() - 30 * dayMs) : new Date(query.from);
      const days = (until.getTime() - from.getTime()) / dayMs;
      if (days <= 0 || days > maxDays) {
        const message = `is before \`until\`, and at most ${maxDays} days`;
        throw invalid(['query', 'from'], message);
      }
      const counted = await listCounted(orgId, principal.modes, { from, until, limit: maxCounted + 1 });
      if (counted.length > maxCounted) {
        throw invalid(
          ['query', 'from'],
          `More than ${maxCounted} conversations began in this time; ask for less of it.`,
        );
      }
      const hours = (await findOrganization(orgId))?.hours;
      // Opening hours are computed from the oldest conversation on, because `from` may lie many centuries back.
      const first = counted.reduce(
        (earliest, { created_at }) => Math.min(earliest, created_at.getTime()),
        now.getTime(),
      );
      const within = hours && openTime(hours, first, now.getTime());
      return {
        from,
        until,
        total: summarize(counted, now.getTime(), within),
        groups: query.by === undefined ? [] : grouped(counted, query.by, now.getTime(), within),
      };
    },
  }),
];
