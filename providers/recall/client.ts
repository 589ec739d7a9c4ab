/** Orders, reads and deletes bots of Recall.ai. */
import { z } from 'zod';
import { BotRefused, type Bot, type Heard } from './bot.ts';
import { created, createService, knowsBot, sending, type ServiceOptions } from './service.ts';
import { isOver, recallState, type BotState } from '../../models/rules/interviews/bot.ts';
import { interviewTimes } from '../../models/rules/interviews/interview.ts';

const bot = z.object({
  status_changes: z.array(z.object({ code: z.string(), sub_code: z.string().nullish() })).nullish(),
  recordings: z
    .array(
      z.object({
        media_shortcuts: z
          .object({
            transcript: z.object({ data: z.object({ download_url: z.string().nullish() }).nullish() }).nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
});
const time = z.object({ relative: z.number() }).nullish();
const transcript = z.array(
  z.object({
    participant: z.object({ name: z.string().nullish() }).nullish(),
    words: z.array(z.object({ text: z.string(), start_timestamp: time, end_timestamp: time })),
  }),
);

const seconds = (ms: number): number => Math.round(ms / 1_000);

export function createRecallBot(options: ServiceOptions): Bot {
  const { call, download, known, sent } = createService(options, '/bot/?metadata__key=');

  async function read(id: string, signal: AbortSignal | undefined) {
    const answer = await call('GET', `/bot/${encodeURIComponent(id)}/`, { signal });
    return knowsBot(answer) ? bot.parse(answer.body) : undefined;
  }

  async function stateOf(id: string, signal: AbortSignal | undefined): Promise<BotState> {
    const found = await read(id, signal);
    if (!found) return { phase: 'failed', reason: 'gone' };
    const last = found.status_changes?.at(-1);
    return last ? recallState(last.code, last.sub_code) : { phase: 'scheduled' };
  }

  return {
    kind: 'recall',
    schedule: ({ meetingUrl, name, metadata, key, order, again }, signal) =>
      sending(async () => {
        const [found] = (again && (await known(key, signal))) || [];
        if (found !== undefined) return { kind: 'recall', id: found };
        const { status, body } = await call('POST', '/bot/', {
          headers: { 'idempotency-key': `${key}:${order}` },
          body: {
            meeting_url: meetingUrl,
            bot_name: name,
            metadata: { ...metadata, key },
            recording_config: { transcript: { provider: { meeting_captions: {} } } },
            automatic_leave: {
              waiting_room_timeout: seconds(interviewTimes.noShow),
              noone_joined_timeout: seconds(interviewTimes.noShow),
            },
          },
          signal,
        });
        const id = created.safeParse(body).data?.id;
        if (status !== 201 || id === undefined) throw new BotRefused(status === 409 ? 'service' : 'refused', status);
        return { kind: 'recall', id };
      }),

    async cancel(id, signal) {
      const path = `/bot/${encodeURIComponent(id)}/`;
      const deleted = await call('DELETE', path, { signal });
      // Recall.ai cannot delete a bot that has already been dispatched; such a bot is told to leave.
      if (deleted.status !== 405) return void knowsBot(deleted);
      const left = await call('POST', `${path}leave_call/`, { signal });
      // Recall.ai refuses this request for a bot that has left already.
      if (left.status === 400 && isOver(await stateOf(id, signal))) return;
      knowsBot(left);
    },

    get: stateOf,

    sent,

    async erase(id, signal) {
      const { status } = await call('POST', `/bot/${encodeURIComponent(id)}/delete_media/`, { signal });
      return (status >= 200 && status < 300) || status === 404;
    },

    async transcript(id, signal) {
      const found = await read(id, signal);
      if (!found) return [];
      const links = (found.recordings ?? []).map(
        (one) => one.media_shortcuts?.transcript?.data?.download_url ?? undefined,
      );
      const over = ['done', 'fatal'].includes(found.status_changes?.at(-1)?.code ?? '');
      if (links.length === 0) return over ? [] : undefined;
      if (links.includes(undefined)) return undefined;
      const parts: Heard[] = [];
      for (const link of links) {
        for (const { participant, words } of transcript.parse(await download(link!, signal))) {
          const text = words
            .map((word) => word.text)
            .join(' ')
            .trim();
          if (text === '') continue;
          const end = words.at(-1)?.end_timestamp?.relative;
          parts.push({
            speaker: participant?.name ?? 'Unknown',
            startMs: Math.round((words[0]?.start_timestamp?.relative ?? 0) * 1_000),
            ...(end === undefined ? {} : { endMs: Math.round(end * 1_000) }),
            text,
          });
        }
      }
      return parts;
    },
  };
}
