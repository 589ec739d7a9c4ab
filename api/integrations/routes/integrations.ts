/** Routes of an organization's connections to other services. Only members connect; keys cannot. */
import { member, open } from '../../access/auth.ts';
import * as contract from '../contract/integrations.ts';
import { beginSlack, connect, disconnect, finishSlack, testConnection, viewIntegration } from '../integrations.ts';
import { outcomePath } from '../outcome.ts';
import { redirect, route } from '../../http/route.ts';
import { findIntegration, listIntegrations } from '../../../models/integrations/integration.ts';
import { integrationProviders } from '../../../models/rules/integrations/integration.ts';
import { beginTeams } from '../../../providers/teams/connect.ts';

export const integrationRoutes = [
  route(contract.listIntegrations, {
    summary: 'Every service that can be connected, and how it stands.',
    auth: member(),
    async handle({ params: { orgId } }) {
      const found = await listIntegrations(orgId);
      const of = (provider: string) => found.find((one) => one.provider === provider);
      return {
        integrations: await Promise.all(
          integrationProviders.map((provider) => viewIntegration(provider, of(provider))),
        ),
      };
    },
  }),
  route(contract.connectLinear, {
    summary: 'Connect Linear. The key is tried before it is stored.',
    auth: member('admin'),
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { team_id, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'linear', credentials, settings: { team_id } });
      return { integration: await viewIntegration('linear', connected) };
    },
  }),
  route(contract.connectGithub, {
    summary: 'Connect a repository of GitHub. The token is tried with it before it is stored.',
    auth: member('admin'),
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { repository, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'github', credentials, settings: { repository } });
      return { integration: await viewIntegration('github', connected) };
    },
  }),
  route(contract.connectSlack, {
    summary: 'Connect Slack, which begins at `authorization_url`; once it is connected, choose another channel.',
    auth: member('admin'),
    errors: ['PROVIDER_NOT_CONNECTED', 'PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { channel_id: channelId }, principal, cookies }, ctx) {
      const standing = await findIntegration(orgId, 'slack');
      if (standing?.status === 'connected') {
        const settings = { channel_id: channelId };
        const changed =
          channelId === undefined
            ? standing
            : await connect(ctx, { orgId, provider: 'slack', credentials: {}, settings });
        return { integration: await viewIntegration('slack', changed) };
      }
      const url = await beginSlack(ctx, cookies, { orgId, userId: principal.userId, channelId });
      return { integration: await viewIntegration('slack', standing), authorization_url: url };
    },
  }),
  route(contract.connectEmail, {
    summary: 'Connect a mail server of your own. It is logged in to before it is stored.',
    auth: member('admin'),
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { from, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'email', credentials, settings: { from } });
      return { integration: await viewIntegration('email', connected) };
    },
  }),
  route(contract.connectTeams, {
    summary: 'A code with which somebody in your Microsoft Teams connects it.',
    auth: member('admin'),
    async handle({ params: { orgId }, principal }, ctx) {
      const { code, expiresAt } = await beginTeams(orgId, principal.userId, {
        secrets: ctx.secrets,
        now: ctx.clock(),
      });
      const integration = await viewIntegration('teams', await findIntegration(orgId, 'teams'));
      return { integration, connect_code: code, expires_at: expiresAt };
    },
  }),
  route(contract.disconnectIntegration, {
    summary: 'Disconnect a service; its credentials are forgotten.',
    auth: member('admin'),
    async handle({ params: { orgId, provider } }, ctx) {
      await disconnect(ctx, orgId, provider);
      return { integration: await viewIntegration(provider, await findIntegration(orgId, provider)) };
    },
  }),
  route(contract.testIntegration, {
    summary: 'Try what is connected; nothing is posted there.',
    auth: member('admin'),
    errors: ['PROVIDER_NOT_CONNECTED', 'PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId, provider } }, ctx) {
      return { ok: true, message: await testConnection(ctx, orgId, provider) } as const;
    },
  }),
  route(contract.finishSlack, {
    summary: 'Where Slack sends the browser back to; leads to a page that says how it ended.',
    auth: open,
    otherParameters: 'ignored',
    status: 302,
    limit: 'callbacks',
    async handle({ query, cookies }, ctx) {
      return redirect(outcomePath(await finishSlack(ctx, query, cookies)));
    },
  }),
];
