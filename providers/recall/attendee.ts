/** Bots of Attendee, a service that a company can host itself. */
import { z } from 'zod';
import { BotRefused, type Bot } from './bot.ts';
import { createService, sending, ServiceAway, type ServiceOptions } from './service.ts';
import { attendeeState } from '../../models/rules/interviews/bot.ts';

const created = z.object({ id: z.string() });
const listed = z.object({ results: z.array(created) });
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
  const { call } = createService(options);

  async function read(id: string, signal: AbortSignal | undefined) {
    const { status, body } = await call('GET', `/bots/${encodeURIComponent(id)}`, { signal });
    return status === 404 ? undefined : bot.parse(body);
  }

  /** The ids of bots ordered with this idempotency key. Undefined when the service does not list them. */
  async function sent(key: string, signal: AbortSignal | undefined): Promise<string[] | undefined> {
    const { status, body } = await call('GET', `/bots?deduplication_key=${encodeURIComponent(key)}`, { signal });
    return status === 200 ? listed.safeParse(body).data?.results.map(({ id }) => id) : undefined;
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
        const [known] = (await sent(key, signal)) ?? [];
        if (known === undefined) throw new BotRefused('refused', status);
        return { kind: 'attendee', id: known };
      }),

    async cancel(id, signal) {
      const path = `/bots/${encodeURIComponent(id)}`;
      const found = await read(id, signal);
      if (!found) return;
      if (found.state === 'scheduled') await call('DELETE', path, { signal });
      else await call('POST', `${path}/leave`, { body: {}, signal });
    },

    async get(id, signal) {
      const found = await read(id, signal);
      if (!found) return { phase: 'failed', reason: 'gone' };
      const last = found.events?.at(-1);
      return attendeeState(found.state, last?.event_sub_type ?? last?.sub_type);
    },

    async sent(key, signal) {
      const known = await sent(key, signal);
      if (!known) throw new ServiceAway('The service of meeting bots does not list its bots.');
      return known;
    },

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
      const { status, body } = await call('GET', `/bots/${encodeURIComponent(id)}/transcript`, { signal });
      if (status !== 200) return [];
      return transcript.parse(body).flatMap(({ speaker_name, timestamp_ms, duration_ms, transcription }) => {
        const text = transcription?.transcript.trim() ?? '';
        if (text === '') return [];
        const end = typeof duration_ms === 'number' ? { endMs: timestamp_ms + duration_ms } : {};
        return [{ speaker: speaker_name ?? 'Unknown', startMs: timestamp_ms, ...end, text }];
      });
    },
  };
}
