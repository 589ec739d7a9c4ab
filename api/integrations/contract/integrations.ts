/**
 * Zod schemas of the requests and replies about connections to other services. Credentials are accepted and never
 * returned.
 */
import { z } from 'zod';
import { id, timestamp } from '../../base/contract/common.ts';
import { integrationProviders, integrationStatuses } from '../../../models/rules/integrations/integration.ts';
import { repositoryName } from '../../../providers/github/rules.ts';
import { readMailbox } from '../../../models/rules/access/mailbox.ts';
import { readSmtpUrl } from '../../../providers/mail/rules.ts';
import { slackId } from '../../../providers/slack/rules.ts';
import { operation } from '../../base/contract/operation.ts';
import { redirectReply } from '../../base/contract/common.ts';

const provider = z.enum(integrationProviders);
const integrationParams = z.object({ orgId: id, provider });

export const integration = z
  .object({
    provider,
    status: z.enum(integrationStatuses).meta({
      description: '`broken`: the provider no longer takes the credential; connect again.',
    }),
    account: z.string().nullable().meta({ description: 'Whose account it is, in the provider’s words.' }),
    settings: z
      .record(z.string(), z.unknown())
      .meta({ description: 'What was chosen, such as the team or the channel.' }),
    receives_events: z.boolean().meta({
      description:
        'Whether the events of the connected workspace or team reach this organization: false while disconnected, and where another organization connected the same one before.',
    }),
    connected_at: timestamp.nullable(),
    broken_reason: z.string().optional(),
  })
  .meta({ id: 'Integration' });
const integrationList = z.object({ integrations: z.array(integration) });
const integrationReply = z.object({ integration });

const linearBody = z.strictObject({
  api_key: z.string().min(1).max(500).meta({ description: 'A personal API key of Linear, or an OAuth access token.' }),
  team_id: id.meta({ description: 'The team whose issues tickets become: its id or its key.' }),
  webhook_secret: z.string().min(8).max(500).optional().meta({
    description: 'The secret of a webhook of your own for `/v1/webhooks/linear`.',
  }),
});

const githubBody = z.strictObject({
  token: z.string().min(1).max(500).meta({ description: 'A token that may read and write the issues there.' }),
  repository: z
    .string()
    .max(140)
    .regex(repositoryName, 'must be `owner/name`')
    .meta({ description: 'The repository whose issues tasks become: `owner/name`.' }),
  webhook_secret: z.string().min(8).max(500).optional().meta({
    description: 'The secret of a webhook of your own for `/v1/webhooks/github`.',
  }),
});

const slackBody = z.strictObject({
  channel_id: z
    .string()
    .regex(slackId, 'must be a channel’s id, such as C0123456789')
    .optional()
    .meta({ description: 'Where tickets go. Without it, Slack asks for a channel while it is connected.' }),
});
export const slackReply = z.object({
  integration,
  authorization_url: z.string().optional().meta({
    description: 'Open this in the same browser to connect; it is missing once Slack is connected.',
  }),
});

const mailServer = z
  .string()
  .max(1000)
  .refine((text) => readSmtpUrl(text) !== undefined, 'must be smtp://host:port or smtps://user:password@host');
const emailBody = z.strictObject({
  smtp_url: mailServer.meta({ description: 'Your mail server; it is tried before it is stored.' }),
  from: z
    .string()
    .max(400)
    .refine((text) => readMailbox(text) !== undefined, 'must be an address, or `Name <address>`')
    .meta({ description: 'Who your mails come from.' }),
});
export const teamsReply = z.object({
  integration,
  connect_code: z
    .string()
    .meta({ description: 'Somebody in your Microsoft Teams writes `connect <code>` to the bot.' }),
  expires_at: timestamp,
});

const testReply = z.object({ ok: z.literal(true), message: z.string() });
export const callbackQuery = z.object({
  state: z.string().max(1000).optional(),
  code: z.string().max(4096).optional(),
  error: z.string().max(200).optional(),
});

export type Integration = z.output<typeof integration>;

export const listIntegrations = operation('listIntegrations', 'GET /orgs/{orgId}/integrations', {
  reply: integrationList,
});
export const connectLinear = operation('connectLinear', 'PUT /orgs/{orgId}/integrations/linear', {
  body: linearBody,
  reply: integrationReply,
});
export const connectGithub = operation('connectGithub', 'PUT /orgs/{orgId}/integrations/github', {
  body: githubBody,
  reply: integrationReply,
});
export const connectSlack = operation('connectSlack', 'PUT /orgs/{orgId}/integrations/slack', {
  body: slackBody,
  reply: slackReply,
});
export const connectEmail = operation('connectEmail', 'PUT /orgs/{orgId}/integrations/email', {
  body: emailBody,
  reply: integrationReply,
});
export const connectTeams = operation('connectTeams', 'PUT /orgs/{orgId}/integrations/teams', { reply: teamsReply });
export const disconnectIntegration = operation(
  'disconnectIntegration',
  'DELETE /orgs/{orgId}/integrations/{provider}',
  { params: integrationParams, reply: integrationReply },
);
export const testIntegration = operation('testIntegration', 'POST /orgs/{orgId}/integrations/{provider}/test', {
  params: integrationParams,
  reply: testReply,
});
export const finishSlack = operation('finishSlack', 'GET /integrations/slack/callback', {
  query: callbackQuery,
  reply: redirectReply,
});
