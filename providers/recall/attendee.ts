/** Orders, reads and deletes bots of Attendee, a service that a company can host itself. */
import { z } from 'zod';
import { BotRefused, type Bot } from './bot.ts';
import { created, createService, knowsBot, sending, type ServiceOptions } from './service.ts';
import { attendeeState, isOver } from '../../models/rules/interviews/bot.ts';

const bot = z.object({
  state: z.string(),
  transcription_state: z.string().nullish(),
  events: z.array(z.object({ sub_type: z.string().nullish(), event_sub_type: z.string().nullish() })).nullish(),
});
const transcript = z.array(
  z.object({
    speaker_name: z.string().nullish(),
    timestamp_ms: z.number(),
    duration_ms: z.number().nullish(),
    transcription: z.object({ transcript: z.string() }).nullish(),
  }),
);

export function createAttendeeBot(options: ServiceOptions): Bot {
  const { call, known, sent } = createService(options, '/bots?deduplication_key=');

  async function read(id: string, signal: AbortSignal | undefined) {
    const answer = await call('GET', `/bots/${encodeURIComponent(id)}`, { signal });
    return knowsBot(answer) ? bot.parse(answer.body) : undefined;
  }

  return {
    kind: 'attendee',
    schedule: ({ meetingUrl, name, metadata, key }, signal) =>
      sending(async () => {
        const { status, body } = await call('POST', '/bots', {
          body: { meeting_url: meetingUrl, bot_name: name, metadata: { ...metadata, key }, deduplication_key: key },
          signal,
        });
        const id = created.safeParse(body).data?.id;
        if (status === 201 && id !== undefined) return { kind: 'attendee', id };
        // Attendee answers with status 400 when a bot with this idempotency key already exists.
        const [found] = (await known(key, signal)) ?? [];
        if (found === undefined) throw new BotRefused('refused', status);
        return { kind: 'attendee', id: found };
      }),

    async cancel(id, signal) {
      const path = `/bots/${encodeURIComponent(id)}`;
      const found = await read(id, signal);
      // Attendee refuses to let a bot leave that has left already.
      if (!found || isOver(attendeeState(found.state, undefined))) return;
      const scheduled = found.state === 'scheduled';
      knowsBot(
        scheduled ? await call('DELETE', path, { signal }) : await call('POST', `${path}/leave`, { body: {}, signal }),
      );
    },

    async get(id, signal) {
      const found = await read(id, signal);
      if (!found) return { phase: 'failed', reason: 'gone' };
      const last = found.events?.at(-1);
      return attendeeState(found.state, last?.event_sub_type ?? last?.sub_type);
    },

    sent,

    async erase(id, signal) {
      const found = await read(id, signal);
      if (!found || found.state === 'data_deleted') return true;
      const { status } = await call('POST', `/bots/${encodeURIComponent(id)}/delete_data`, { body: {}, signal });
      return status >= 200 && status < 300;
    },

    async transcript(id, signal) {
      const found = await read(id, signal);
      if (!found) return [];
      const over = ['ended', 'fatal_error', 'data_deleted'].includes(found.state);
      if (!over) return undefined;
      const answer = await call('GET', `/bots/${encodeURIComponent(id)}/transcript`, { signal });
      if (!knowsBot(answer)) return [];
      return transcript.parse(answer.body).flatMap(({ speaker_name, timestamp_ms, duration_ms, transcription }) => {
        const text = transcription?.transcript.trim() ?? '';
        if (text === '') return [];
        const end = typeof duration_ms === 'number' ? { endMs: timestamp_ms + duration_ms } : {};
        return [{ speaker: speaker_name ?? 'Unknown', startMs: timestamp_ms, ...end, text }];
      });
    },
  };
}
