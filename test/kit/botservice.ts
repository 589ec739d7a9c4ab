/**
 * A loopback server with the APIs of two meeting-bot services, Recall.ai and Attendee, over the same bots. Tests change
 * the state of bots and make the service refuse or fail. The server shares no code with the product.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, serving } from './listening.ts';

export type FakeBot = {
  id: string;
  meeting_url: string;
  name: string;
  metadata: Record<string, string>;
  key: string | undefined;
  /** The status changes of Recall.ai, or the state of Attendee with the `event_sub_type` of its last event. */
  changes: { code: string; sub_code?: string }[];
  transcript?: { speaker: string; text: string; startMs: number }[];
  left: boolean;
  /** Whether the recording of the bot was deleted. */
  erased: boolean;
};
type Request = { method: string; path: string; authorization: string | undefined };

export async function startBotService() {
  const secret = Buffer.from('a secret of 24 bytes or so');
  const bots = new Map<string, FakeBot>();
  const requests: Request[] = [];
  /** Statuses with which the next orders of a bot are refused. */
  const refusals: number[] = [];
  /** Statuses with which the next requests that a bot leaves are refused. */
  const leaveRefusals: number[] = [];
  /** The service executes this many of the next orders, but breaks the connection instead of answering. */
  let lostAnswers = 0;
  /** Whether the service answers every request with 503. */
  let isAway = false;
  /** The service answers executed orders only after this promise resolves. */
  let mayAnswer: Promise<void> = Promise.resolve();

  const idOf = (path: string) => decodeURIComponent(/\/bots?\/([^/?]+)/.exec(path)?.[1] ?? '');

  function recallView(bot: FakeBot) {
    const over = bot.changes.some(({ code }) => code === 'call_ended' || code === 'done');
    const data = { download_url: bot.transcript ? `${url}/files/${bot.id}?signed=1` : null };
    return {
      id: bot.id,
      status_changes: bot.changes,
      recordings: over ? [{ id: 'rec', media_shortcuts: { transcript: { data } } }] : [],
    };
  }

  async function handle(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const { method = '', url: path = '' } = request;
    requests.push({ method, path, authorization: request.headers.authorization });
    if (path.startsWith('/files/')) {
      const bot = bots.get(/\/files\/([^?]+)/.exec(path)![1]!)!;
      const parts = (bot.transcript ?? []).map(({ speaker, text: said, startMs }) => ({
        participant: { id: 1, name: speaker, email: null },
        words: said.split(' ').map((word, n) => ({
          text: word,
          start_timestamp: { relative: startMs / 1_000 + n / 10 },
          end_timestamp: null,
        })),
      }));
      return json(response, 200, parts);
    }
    if (isAway) return json(response, 503, { detail: 'away' });
    if (request.headers.authorization !== 'Token key-1') return json(response, 401, { detail: 'Invalid token.' });
    const attendee = path.startsWith('/api/v1/bots');
    const bot = bots.get(idOf(path));
    if (method === 'POST' && /\/bots?\/?$/.test(path)) {
      const refused = refusals.shift();
      if (refused !== undefined) return json(response, refused, { detail: 'no' });
      const body = JSON.parse(text) as Record<string, never>;
      const key = body['deduplication_key'] ?? (body['metadata'] as { key?: string } | undefined)?.key;
      if (attendee && [...bots.values()].some((one) => one.key === key && !one.left))
        return json(response, 400, { error: 'Deduplication key already in use' });
      const made: FakeBot = {
        id: `bot_${randomUUID()}`,
        meeting_url: body['meeting_url']!,
        name: body['bot_name']!,
        metadata: body['metadata']!,
        key,
        changes: [{ code: attendee ? 'joining' : 'joining_call' }],
        left: false,
        erased: false,
      };
      bots.set(made.id, made);
      if (lostAnswers > 0) {
        lostAnswers -= 1;
        return void response.destroy();
      }
      await mayAnswer;
      return json(response, 201, { id: made.id });
    }
    if (method === 'GET' && /\/bots?\/?\?/.test(path)) {
      const wanted = new URL(path, url).searchParams;
      const key = wanted.get('metadata__key') ?? wanted.get('deduplication_key');
      return json(response, 200, {
        results: [...bots.values()].filter((one) => one.key === key).map(({ id }) => ({ id })),
      });
    }
    if (!bot) return json(response, 404, { detail: 'Not found.' });
    if (path.endsWith('/leave_call/') || path.endsWith('/leave')) {
      const refused = leaveRefusals.shift();
      if (refused !== undefined) return json(response, refused, { detail: 'no' });
      bot.left = true;
      return json(response, 200, {});
    }
    if (path.endsWith('/delete_media/') || path.endsWith('/delete_data')) {
      const { code } = bot.changes.at(-1)!;
      if (!['done', 'fatal', 'ended', 'fatal_error'].includes(code)) return json(response, 400, { detail: 'no' });
      bot.erased = true;
      delete bot.transcript;
      if (attendee) bot.changes.push({ code: 'data_deleted' });
      return json(response, 200, {});
    }
    if (path.endsWith('/transcript')) {
      const parts = (bot.transcript ?? []).map(({ speaker, text: said, startMs }) => ({
        speaker_name: speaker,
        timestamp_ms: startMs,
        duration_ms: 1_000,
        transcription: { transcript: said },
      }));
      return json(response, 200, parts);
    }
    if (method === 'DELETE') {
      // Only a bot that was not sent yet can be deleted.
      if (!['ready', 'scheduled'].includes(bot.changes.at(-1)!.code)) return json(response, 405);
      bot.left = true;
      return json(response, 204);
    }
    if (!attendee) return json(response, 200, recallView(bot));
    const last = bot.changes.at(-1)!;
    json(response, 200, {
      id: bot.id,
      state: last.code,
      events: [{ type: 'state', sub_type: null, event_sub_type: last.sub_code ?? null }],
    });
  }

  const { url, close } = await serving(handle);

  /** The headers with which Recall.ai signs a body. */
  function signed(
    body: string,
    { id = `msg_${randomUUID()}`, at = Date.now() / 1_000, prefix = 'webhook', by = secret.toString('base64') } = {},
  ) {
    const timestamp = String(Math.floor(at));
    const signature = createHmac('sha256', Buffer.from(by, 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: timestamp,
      [`${prefix}-signature`]: `v1,${signature}`,
      'content-type': 'application/json',
    };
  }

  return {
    url,
    secret: `whsec_${secret.toString('base64')}`,
    bots,
    requests,
    refusals,
    leaveRefusals,
    away: (value: boolean) => void (isAway = value),
    loseAnswers: (count: number) => void (lostAnswers = count),
    /** Executes further orders without answering them, until the returned function is called. */
    holdAnswers(): () => void {
      const held = Promise.withResolvers<void>();
      mayAnswer = held.promise;
      return held.resolve;
    },
    signed,
    /** The webhook body that Recall.ai sends when the status of a bot changes. */
    report: (bot: FakeBot, event = `bot.${bot.changes.at(-1)!.code}`) =>
      JSON.stringify({ event, data: { data: bot.changes.at(-1), bot: { id: bot.id, metadata: bot.metadata } } }),
    /** The webhook body that Attendee sends when the state of a bot changes. */
    attendeeReport: (bot: FakeBot, id: string = randomUUID(), at = new Date()) =>
      JSON.stringify({
        idempotency_key: id,
        bot_id: bot.id,
        bot_metadata: bot.metadata,
        trigger: 'bot.state_change',
        data: {
          new_state: bot.changes.at(-1)!.code,
          old_state: bot.changes.at(-2)?.code ?? null,
          created_at: at.toISOString(),
          event_type: 'state',
          event_sub_type: bot.changes.at(-1)!.sub_code ?? null,
        },
      }),
    /** The latest bot that was sent to an interview. */
    latest: (interviewId: string) =>
      [...bots.values()].findLast(({ metadata }) => metadata['interview_id'] === interviewId),
    close,
  };
}
export type BotService = Awaited<ReturnType<typeof startBotService>>;
