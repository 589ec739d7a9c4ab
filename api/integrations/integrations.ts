/**
 * Connections to other services: members create, test and see them. An activity tries the credentials. They are stored
 * encrypted in MongoDB, and the workflow gets only the record's id.
 */
import { randomBytes } from 'node:crypto';
import { beginRedirect, endRedirect } from '../access/browser.ts';
import type { Context } from '../context.ts';
import type { Cookies } from '../http/route.ts';
import { ask, startSaved } from '../../workflows/start.ts';
import { createErrand, takeErrand } from '../../models/base/errand.ts';
import { findIntegration, findOwner, type Integration } from '../../models/integrations/integration.ts';
import { endConnection, ReleaseModel } from '../../models/integrations/release.ts';
import { dropOutboxProvider } from '../../models/integrations/supportconfig.ts';
import { isAdmin } from '../../models/access/organization.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import type { IntegrationProvider } from '../../models/rules/integrations/integration.ts';
import {
  tryIntegrationWork,
  type Attempt,
  type Trial,
  type TrialContent,
} from '../../models/rules/integrations/work.ts';
import { slackChannelScope, slackScopes } from '../../providers/slack/rules.ts';
import { outboxProviders } from '../../models/rules/integrations/supportconfig.ts';

/** A connection as members see it. A connection without a record counts as disconnected. */
export async function viewIntegration(provider: IntegrationProvider, found: Integration | null | undefined) {
  const status = found?.status ?? 'disconnected';
  const connected = status !== 'disconnected';
  const owner = found?.events_of === undefined ? null : await findOwner(provider, found.events_of);
  return {
    provider,
    status,
    account: (connected && found?.account) || null,
    settings: connected ? (found?.settings ?? {}) : {},
    receives_events: owner !== null && owner.org_id === found?.org_id,
    connected_at: (connected && found?.connected_at) || null,
    ...(found?.broken_reason === undefined ? {} : { broken_reason: found.broken_reason }),
  };
}

/**
 * Has a worker try the credentials at the provider, and waits for the outcome.
 * @throws Problem PROVIDER_REFUSED with the provider's own error code; UNAVAILABLE when the provider was not reached.
 */
async function outcomeOf(
  ctx: Context,
  { orgId, provider, what }: Omit<Trial, 'candidateId'>,
  attempt: Attempt,
): Promise<string> {
  const { secrets } = ctx;
  const candidateId = await createErrand(orgId, attempt, { secrets, now: ctx.clock() });
  let content: TrialContent | null;
  try {
    await ask(ctx, tryIntegrationWork({ orgId, provider, what, candidateId }), orgId);
  } finally {
    content = await takeErrand<TrialContent>(orgId, candidateId, secrets);
  }
  const tried = content && 'outcome' in content ? content.outcome : { unanswered: 'It took too long.' };
  if ('said' in tried) return tried.said;
  if ('refused' in tried) throw new Problem('PROVIDER_REFUSED', { message: tried.refused });
  throw new Problem('UNAVAILABLE', { message: `The provider could not be asked. ${tried.unanswered}` });
}

type Tries = { orgId: string; provider: IntegrationProvider } & Attempt;

/**
 * Tries credentials, and stores them if the provider accepts them. If the provider refuses them, the previous
 * connection stays.
 */
export async function connect(ctx: Context, { orgId, provider, credentials, settings }: Tries): Promise<Integration> {
  await outcomeOf(ctx, { orgId, provider, what: 'connect' }, { credentials, settings });
  const connected = await findIntegration(orgId, provider);
  if (!connected) throw new Problem('CONFLICT', { message: 'It was disconnected meanwhile.' });
  return connected;
}

/** Tries the stored credentials. @throws Problem PROVIDER_NOT_CONNECTED, PROVIDER_REFUSED, UNAVAILABLE. */
export async function testConnection(ctx: Context, orgId: string, provider: IntegrationProvider): Promise<string> {
  const standing = await findIntegration(orgId, provider);
  if (standing?.sealed === undefined)
    throw new Problem('PROVIDER_NOT_CONNECTED', { message: `${provider} is not connected.` });
  return outcomeOf(ctx, { orgId, provider, what: 'test' }, { credentials: {}, settings: {} });
}

/**
 * Deletes the credentials and stops deliveries to the service. A workflow then revokes the credentials at the service,
 * if the service supports that. A repeated call changes nothing.
 */
export async function disconnect(ctx: Context, orgId: string, provider: IntegrationProvider): Promise<void> {
  const now = ctx.clock();
  const release = await endConnection(orgId, provider, { secrets: ctx.secrets, now });
  const destination = outboxProviders.find((one) => one === provider);
  if (destination !== undefined) await dropOutboxProvider(orgId, destination, now);
  if (release) await startSaved(ctx, ReleaseModel, release, release.pending);
}

const slackPurpose = 'connect:slack';
/**
 * `user_id`: the member who began to connect Slack. When Slack sends the browser back, the member must still be an
 * admin, else nothing is connected.
 */
type BegunSlack = { org_id: string; user_id: string; settings: { channel_id?: string } };
const redirectUri = ({ config }: Pick<Context, 'config'>): string =>
  `${config.publicUrl}/v1/integrations/slack/callback`;

/** Begins to connect Slack in this browser; returns the URL at which Slack asks for consent. */
export async function beginSlack(
  ctx: Context,
  cookies: Cookies,
  { orgId, userId, channelId }: { orgId: string; userId: string; channelId: string | undefined },
): Promise<string> {
  const { slack } = ctx.config;
  if (!slack.app)
    throw new Problem('PROVIDER_NOT_CONNECTED', {
      message: 'This system has no Slack app: its operator sets SLACK_CLIENT_ID and SLACK_CLIENT_SECRET.',
    });
  const state = randomBytes(32).toString('base64url');
  const kept: BegunSlack = {
    org_id: orgId,
    user_id: userId,
    settings: channelId === undefined ? {} : { channel_id: channelId },
  };
  await beginRedirect(ctx, cookies, { state, purpose: slackPurpose, kept });
  const url = new URL(slack.authorizeUrl);
  url.searchParams.set('client_id', slack.app.clientId);
  url.searchParams.set('scope', [...slackScopes, ...(channelId === undefined ? [slackChannelScope] : [])].join(','));
  url.searchParams.set('redirect_uri', redirectUri(ctx));
  url.searchParams.set('state', state);
  return url.href;
}

type Answer = { state?: string | undefined; code?: string | undefined; error?: string | undefined };

/**
 * Completes the connection from Slack's callback. Returns the outcome for the page: `connected`, or the reason why not,
 * which may be Slack's own error code.
 */
export async function finishSlack(ctx: Context, { state, code, error }: Answer, cookies: Cookies): Promise<string> {
  if (state === undefined) return error ?? 'unknown_state';
  const begun = await endRedirect<BegunSlack>(ctx, cookies, { state, purpose: slackPurpose });
  if (!begun) return 'unknown_state';
  if (error !== undefined || code === undefined) return error ?? 'no_code';
  if (!(await isAdmin(begun.org_id, begun.user_id))) return 'no_longer_admin';
  try {
    const credentials = { code, redirect_uri: redirectUri(ctx) };
    await connect(ctx, { orgId: begun.org_id, provider: 'slack', credentials, settings: begun.settings });
    return 'connected';
  } catch (problem) {
    if (problem instanceof Problem && problem.code === 'PROVIDER_REFUSED') return problem.message;
    if (problem instanceof Problem && problem.code === 'UNAVAILABLE') return 'unavailable';
    throw problem;
  }
}
