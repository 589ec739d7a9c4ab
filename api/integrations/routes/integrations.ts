/** Routes of an organization's connections to other services. Only members connect; keys cannot. */
import { member, open } from '../../access/auth.ts';
import * as contract from '../contract/integrations.ts';
import { redirectReply } from '../../base/contract/common.ts';
import { beginSlack, connect, disconnect, finishSlack, testConnection, viewIntegration } from '../integrations.ts';
import { outcomePath } from '../outcome.ts';
import { redirect, route } from '../../http/route.ts';
import { findIntegration, listIntegrations } from '../../../models/integrations/integration.ts';
import { integrationProviders } from '../../../models/rules/integrations/integration.ts';
import { beginTeams } from '../../../providers/teams/connect.ts';

const prefix = '/orgs/{orgId}/integrations';

export const integrationRoutes = [
  route('listIntegrations', `GET ${prefix}`, {
    summary: 'Every service that can be connected, and how it stands.',
    auth: member(),
    reply: contract.integrationList,
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
  route('connectLinear', `PUT ${prefix}/linear`, {
    summary: 'Connect Linear. The key is tried before it is stored.',
    auth: member('admin'),
    body: contract.linearBody,
    reply: contract.integrationReply,
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { team_id, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'linear', credentials, settings: { team_id } });
      return { integration: await viewIntegration('linear', connected) };
    },
  }),
  route('connectGithub', `PUT ${prefix}/github`, {
    summary: 'Connect a repository of GitHub. The token is tried with it before it is stored.',
    auth: member('admin'),
    body: contract.githubBody,
    reply: contract.integrationReply,
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { repository, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'github', credentials, settings: { repository } });
      return { integration: await viewIntegration('github', connected) };
    },
  }),
  route('connectSlack', `PUT ${prefix}/slack`, {
    summary: 'Connect Slack, which begins at `authorization_url`; once it is connected, choose another channel.',
    auth: member('admin'),
    body: contract.slackBody,
    reply: contract.slackReply,
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
      const { url, cookie } = await beginSlack(ctx, { orgId, userId: principal.userId, channelId });
      cookies.set(cookie.name, cookie.value, cookie.seconds);
      return { integration: await viewIntegration('slack', standing), authorization_url: url };
    },
  }),
  route('connectEmail', `PUT ${prefix}/email`, {
    summary: 'Connect a mail server of your own. It is logged in to before it is stored.',
    auth: member('admin'),
    body: contract.emailBody,
    reply: contract.integrationReply,
    errors: ['PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body: { from, ...credentials } }, ctx) {
      const connected = await connect(ctx, { orgId, provider: 'email', credentials, settings: { from } });
      return { integration: await viewIntegration('email', connected) };
    },
  }),
  route('connectTeams', `PUT ${prefix}/teams`, {
    summary: 'A code with which somebody in your Microsoft Teams connects it.',
    auth: member('admin'),
    reply: contract.teamsReply,
    async handle({ params: { orgId }, principal }, ctx) {
      const { code, expiresAt } = await beginTeams(orgId, principal.userId, {
        secrets: ctx.secrets,
        now: ctx.clock(),
      });
      const integration = await viewIntegration('teams', await findIntegration(orgId, 'teams'));
      return { integration, connect_code: code, expires_at: expiresAt };
    },
  }),
  route('disconnectIntegration', `DELETE ${prefix}/{provider}`, {
    summary: 'Disconnect a service; its credentials are forgotten.',
    auth: member('admin'),
    params: contract.integrationParams,
    reply: contract.integrationReply,
    async handle({ params: { orgId, provider } }, ctx) {
      await disconnect(ctx, orgId, provider);
      return { integration: await viewIntegration(provider, await findIntegration(orgId, provider)) };
    },
  }),
  route('testIntegration', `POST ${prefix}/{provider}/test`, {
    summary: 'Try what is connected; nothing is posted there.',
    auth: member('admin'),
    params: contract.integrationParams,
    reply: contract.testReply,
    errors: ['PROVIDER_NOT_CONNECTED', 'PROVIDER_REFUSED', 'UNAVAILABLE'],
    async handle({ params: { orgId, provider } }, ctx) {
      return { ok: true, message: await testConnection(ctx, orgId, provider) } as const;
    },
  }),
  route('finishSlack', 'GET /integrations/slack/callback', {
    summary: 'Where Slack sends the browser back to; leads to a page that says how it ended.',
    auth: open,
    query: contract.callbackQuery,
    otherParameters: 'ignored',
    status: 302,
    reply: redirectReply,
    limit: 'callbacks',
    async handle({ query, cookies }, ctx) {
      return redirect(outcomePath(await finishSlack(ctx, query, cookies)));
    },
  }),
];
