/**
 * Handles messages of Microsoft Teams: each message is a question to the knowledge base, and the bot sends the answer.
 */
import { z } from 'zod';
import type { Handled } from '../base/handled.ts';
import { jsonOf, understood } from '../base/understood.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import type { TeamsBot } from './client.ts';
import type { Inbound } from '../../models/events/inbound.ts';
import { maxQuestion, questionIn, readActivity, teamsAnswer } from './rules.ts';

export type TeamsDeps = AgentDeps & { teams: TeamsBot | undefined };

/**
 * A stored message. `said`: the outcome, when the message was handled on arrival: the response to the webhook answered
 * it, or its code connected the tenant. The message is then not handled a second time.
 */
export type StoredActivity = { activity: string; said?: string };

/**
 * The documented types of the fields that `readActivity` reads. `readActivity` treats a field of another type as empty,
 * so only this schema finds messages in an undocumented form.
 */
const id = z.string().nullish();
const party = z.object({ id, name: id }).nullish();
const message = z.object({
  text: z.string().nullish(),
  serviceUrl: z.string(),
  conversation: z.object({ id: z.string() }),
  from: party,
  recipient: party,
});

export async function handleTeams(inbound: Inbound, deps: TeamsDeps, signal: AbortSignal): Promise<Handled> {
  const stored = JSON.parse(inbound.body) as StoredActivity;
  if (stored.said !== undefined) return { outcome: stored.said };
  const activity = readActivity(stored.activity);
  if (activity?.type !== 'message') return { ignored: 'Only messages are followed.' };
  understood(message, jsonOf(stored.activity));
  const query = questionIn(activity).slice(0, maxQuestion);
  if (query === '') return { ignored: 'The message asks nothing.' };
  const { org_id: orgId, mode } = inbound;
  const answer = await answerQuestion(deps, { orgId, mode, query, segments: [], history: [] });
  if (mode === 'test') return { outcome: 'Answered; in test mode nothing is sent.' };
  if (!deps.teams) return { ignored: 'TEAMS_APP_PASSWORD is not set here, so the bot cannot answer.' };
  await deps.teams.answer(activity, teamsAnswer(answer), signal);
  return { outcome: 'Answered.' };
}
