/**
 * Messages of Microsoft Teams: from the bot's channel with a token of the Bot Framework, or from an outgoing webhook with an HMAC.
 * Whose a message is comes from the tenant that an organization connected, by a code that was sent from that tenant.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { SignatureProvider } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { ownedBy, takeIn, type Owner } from './inbound.ts';
import { sha256, unsigned } from './signing.ts';
import { perConfig } from '../http/perconfig.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import { createHttp } from '../../clients/http/http.ts';
import { createTeamsVerifier, isHmacSigned } from '../../clients/teams/verify.ts';
import { isAdmin } from '../../models/access/organization.ts';
import { connectIntegration, findOwner } from '../../models/integrations/integration.ts';
import { keepOauthState, oauthStateSeconds, takeOauthState } from '../../models/integrations/oauthstate.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import {
  maxQuestion,
  questionIn,
  readActivity,
  teamsAnswer,
  type TeamsActivity,
} from '../../models/rules/events/teams.ts';
import { codeFrom, codeLength, connectCode, teamsExternal } from '../../models/rules/events/teamsconnect.ts';

export type TeamsSender = { id: string; form: 'bot' | 'webhook'; activity: TeamsActivity };
/** What an outgoing webhook shows at once; the bot is answered otherwise. */
export type TeamsReply = { type?: 'message'; text?: string };

const verifiers = perConfig(({ teams, egressAllow }) =>
  createTeamsVerifier(
    createHttp({ userAgent: 'SupportPlatform/1.0', egressAllow: [...egressAllow, new URL(teams.openidUrl).host] }),
    { url: teams.openidUrl, appId: teams.appId },
  ),
);

export const teams: SignatureProvider<TeamsSender> = {
  name: 'teams',
  header: 'authorization',
  async verify({ headers, body, now }, { config }) {
    const [, scheme = '', credential = ''] = /^(Bearer|HMAC) +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    const activity = readActivity(body.toString('utf8'));
    if (/^HMAC$/i.test(scheme)) {
      const { webhookSecret } = config.teams;
      if (webhookSecret === undefined || !isHmacSigned(body, credential, webhookSecret))
        throw unsigned('The HMAC is not made with TEAMS_WEBHOOK_SECRET.');
      if (!activity) throw unsigned('The body is no activity.');
      return { id: 'webhook', form: 'webhook', activity };
    }
    if (!activity || credential === '' || !(await isBots(credential, activity)))
      throw unsigned('The token is not one of the Bot Framework for this bot and this service.');
    return { id: 'bot', form: 'bot', activity };

    async function isBots(token: string, spoken: TeamsActivity): Promise<boolean> {
      try {
        return await verifiers(config).isBotToken(token, spoken, now);
      } catch (error) {
        if (error instanceof HttpError) throw new Problem('UNAVAILABLE', { cause: error });
        throw error;
      }
    }
  },
};

/** Takes in a verified message, and gives what Teams is to be answered. */
export async function takeTeams(
  ctx: Context,
  { id: sender, form, activity }: TeamsSender,
  body: Buffer,
): Promise<TeamsReply> {
  const query = questionIn(activity).slice(0, maxQuestion);
  const reply = (text: string): TeamsReply => (form === 'webhook' ? { type: 'message', text } : {});
  const code = activity.type === 'message' ? connectCode(query) : undefined;
  const connected = code === undefined ? undefined : await connectTenant(ctx, activity, code);
  const owner = await ownerOf(ctx, activity);
  const answer =
    form === 'webhook' && connected === undefined && !('unknown' in owner)
      ? await answerNow(ctx, owner, query)
      : undefined;
  await takeIn(ctx, {
    provider: 'teams',
    sender: `${sender} ${activity.tenantId}`,
    keys: [activity.id === '' ? sha256(body) : activity.id.slice(0, 500)],
    owner,
    lane: `teams:${sha256(activity.conversationId)}`,
    type: activity.type === '' ? 'activity' : activity.type,
    body: JSON.stringify({
      activity: body.toString('utf8'),
      ...((connected ?? answer) ? { said: connected ?? 'Answered at once.' } : {}),
    }),
  });
  if (connected !== undefined) return reply(connected);
  return reply(answer ?? 'This Microsoft Teams is not connected to the support platform.');
}

/** Teams waits for 5 s. */
const answerMs = 4_000;

async function answerNow(
  ctx: Context,
  { orgId, mode }: { orgId: string; mode: 'live' | 'test' },
  query: string,
): Promise<string> {
  if (query === '') return 'Write your question behind my name.';
  const asked = answerQuestion(ctx, { orgId, mode, query, segments: [], history: [] }).then(teamsAnswer);
  const late = new Promise<string>((resolve) =>
    setTimeout(() => resolve('This took too long; please ask again.'), answerMs).unref(),
  );
  return Promise.race([asked, late]);
}

async function ownerOf(ctx: Context, { tenantId }: TeamsActivity): Promise<Owner> {
  const owner = tenantId === '' ? null : await findOwner('teams', teamsExternal(tenantId));
  return owner
    ? ownedBy(ctx, owner.org_id)
    : { unknown: 'No organization has connected this tenant of Microsoft Teams.' };
}

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');
/** A code is bound to no browser: whoever sends it speaks for the tenant. */
const anyBrowser = 'teams';

/** Makes the code that somebody in the organization's Teams sends to the bot. */
export async function beginTeams(
  ctx: Context,
  orgId: string,
  userId: string,
): Promise<{ code: string; expiresAt: Date }> {
  const code = codeFrom(randomBytes(codeLength));
  const expiresAt = new Date(ctx.clock().getTime() + oauthStateSeconds * 1000);
  await keepOauthState({
    _id: hashed(code),
    org_id: orgId,
    provider: 'teams',
    user_id: userId,
    browser: anyBrowser,
    settings: {},
    expires_at: expiresAt,
  });
  return { code, expiresAt };
}

/** Connects the tenant that a message with a code came from; the sentence says how it ended. */
async function connectTenant(ctx: Context, { tenantId }: TeamsActivity, code: string): Promise<string> {
  if (tenantId === '') return 'This message names no tenant.';
  const now = ctx.clock();
  const standing = await findOwner('teams', teamsExternal(tenantId));
  const taken = await takeOauthState(hashed(code), 'teams', anyBrowser, now);
  if (!taken) return 'This code is unknown, was used, or is older than ten minutes.';
  if (!(await isAdmin(taken.org_id, taken.user_id)))
    return 'Whoever was given this code is no longer an owner or admin. Ask one of them for another code.';
  if (standing && standing.org_id !== taken.org_id) return 'Another organization has connected this Microsoft Teams.';
  const connected = { account: tenantId, settings: { tenant_id: tenantId }, events_of: teamsExternal(tenantId) };
  await connectIntegration(taken.org_id, 'teams', connected, now);
  return 'This Microsoft Teams is connected. Ask me a question.';
}
