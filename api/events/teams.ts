/** Messages from Microsoft Teams: each is verified and stored. An outgoing webhook gets its answer in the reply. */
import type { SignatureProvider } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { ownedBy, takeIn } from './inbound.ts';
import { perConfig } from '../http/perconfig.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import { createHttp } from '../../clients/http/http.ts';
import { sha256 } from '../../providers/base/signing.ts';
import { connectTenant } from '../../providers/teams/connect.ts';
import { connectCode, maxQuestion, questionIn, teamsAnswer } from '../../providers/teams/rules.ts';
import { createTeamsVerifier, teamsOwner, verifyTeams, type TeamsSender } from '../../providers/teams/verify.ts';

/** The body of the immediate reply to an outgoing webhook. The bot sends its answers separately. */
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
  verify: (request, { config }) =>
    verifyTeams(request, { secret: config.teams.webhookSecret, verifier: verifiers(config) }),
};

/** Stores a verified message and returns the reply to Teams. */
export async function takeTeams(
  ctx: Context,
  { id: sender, form, activity }: TeamsSender,
  body: Buffer,
): Promise<TeamsReply> {
  const query = questionIn(activity).slice(0, maxQuestion);
  const reply = (text: string): TeamsReply => (form === 'webhook' ? { type: 'message', text } : {});
  const code = activity.type === 'message' ? connectCode(query) : undefined;
  const connected =
    code === undefined ? undefined : await connectTenant(activity, code, { secrets: ctx.secrets, now: ctx.clock() });
  const owner = await teamsOwner(activity, ownedBy(ctx));
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

/** Teams waits 5 s for a reply, so an answer must be ready within this many ms. */
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
