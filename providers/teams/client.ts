/**
 * Sends answers to Microsoft Teams as the bot, with the bot's own token. An answer goes to the service URL of the
 * verified message.
 */
import { z } from 'zod';
import type { Http } from '../../clients/http/http.ts';
import type { TeamsActivity } from './rules.ts';

export type TeamsBot = {
  /** @throws HttpError or Error when Teams did not accept the answer. */
  answer(activity: TeamsActivity, text: string, signal?: AbortSignal): Promise<void>;
};

export type TeamsApp = { appId: string; password: string; tokenUrl: string };

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().min(0) });
const scope = 'https://api.botframework.com/.default';
/** A token is replaced this long before it expires. */
const earlyMs = 5 * 60_000;
const limits = { maxBytes: 64 * 1024, totalTimeoutMs: 15_000 };

/**
 * `login` sends requests to the token endpoint, which the operator chose. `http` sends requests to URLs from messages.
 */
export function createTeamsBot(
  { login, http }: { login: Pick<Http, 'request'>; http: Pick<Http, 'request'> },
  { appId, password, tokenUrl }: TeamsApp,
): TeamsBot {
  let held: { token: string; until: number } | undefined;

  async function tokenNow(signal: AbortSignal | undefined): Promise<string> {
    if (held && held.until > performance.now()) return held.token;
    const form = { grant_type: 'client_credentials', client_id: appId, client_secret: password, scope };
    const { status, body } = await login.request(tokenUrl, {
      ...limits,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      signal,
    });
    if (status !== 200)
      throw new Error(`Microsoft answered ${status} when asked for a token; check TEAMS_APP_PASSWORD.`);
    const { access_token, expires_in } = token.parse(JSON.parse(body.toString('utf8')));
    held = { token: access_token, until: performance.now() + Math.max(0, expires_in * 1000 - earlyMs) };
    return access_token;
  }

  return {
    async answer({ serviceUrl, conversationId, id, from, recipient }, text, signal) {
      const path = `v3/conversations/${encodeURIComponent(conversationId)}/activities/${encodeURIComponent(id)}`;
      const activity = { type: 'message', text, textFormat: 'plain', from: recipient, recipient: from, replyToId: id };
      const { status } = await http.request(new URL(path, serviceUrl.replace(/\/?$/, '/')).href, {
        ...limits,
        method: 'POST',
        headers: { authorization: `Bearer ${await tokenNow(signal)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...activity, conversation: { id: conversationId } }),
        signal,
      });
      if (status === 401) held = undefined;
      if (status < 200 || status > 299) throw new Error(`Teams answered ${status} to the answer.`);
    },
  };
}
