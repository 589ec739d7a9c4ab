/** Routes that take an organization live, and show what live mode contains and how far copying from test mode is. */
import { member } from '../../access/auth.ts';
import { checkEnvironmentChange } from '../../access/goinglive.ts';
import * as contract from '../contract/golive.ts';
import { route } from '../../http/route.ts';
import { copyFromTest } from '../golive.ts';
import { setEnvironment } from '../../../models/access/organization.ts';
import { countDocuments } from '../../../models/knowledge/document.ts';
import { latestLiveCopy } from '../../../models/knowledge/livecopy.ts';
import { countPages } from '../../../models/knowledge/page.ts';
import { findSupportConfig } from '../../../models/integrations/supportconfig.ts';
import { findToolServer } from '../../../models/mcp/server.ts';
import type { Environment } from '../../../models/rules/access/keys.ts';
import { settingsChanged } from '../../../models/rules/knowledge/livecopy.ts';
import { isUsable, servesMode } from '../../../models/rules/mcp/tool.ts';

async function view(orgId: string, environment: Environment) {
  const [liveDocuments, livePages, testDocuments, testPages, server, settings, copy] = await Promise.all([
    countDocuments(orgId, ['live']),
    countPages(orgId, ['live']),
    countDocuments(orgId, ['test']),
    countPages(orgId, ['test']),
    findToolServer(orgId),
    findSupportConfig(orgId),
    latestLiveCopy(orgId),
  ]);
  const tools = server && servesMode(server, 'live') ? server.tools.filter(isUsable).length : 0;
  return {
    org_id: orgId,
    environment,
    live: { documents: liveDocuments, pages: livePages, tools, settings: settingsChanged(settings) },
    test: { documents: testDocuments, pages: testPages },
    copy: copy && {
      ...copy,
      status: copy.finished_at ? ('finished' as const) : ('running' as const),
      left_out: copy.left_out ?? [],
    },
  };
}

export const goLiveRoutes = [
  route(contract.seeGoLive, {
    summary:
      'How much is live: documents, pages, tools and settings, what test mode has, and how a copy of that stands.',
    auth: member(),
    async handle({ principal: { orgId, org } }) {
      return view(orgId, org.environment);
    },
  }),
  route(contract.goLive, {
    summary: 'Go live. `copy_from_test` takes the documents and pages of test mode over, in the background.',
    auth: member('admin'),
    errors: ['EMAIL_UNVERIFIED', 'BETA_LIMIT_REACHED'],
    async handle({ body, principal }, ctx) {
      const { orgId, userId } = principal;
      await checkEnvironmentChange(ctx, principal, 'production');
      // The copy is started before the environment changes, so that the organization is not live without documents if
      // this process dies in between.
      if (body.copy_from_test) await copyFromTest(ctx, orgId, userId);
      await setEnvironment(orgId, 'production');
      return view(orgId, 'production');
    },
  }),
];
