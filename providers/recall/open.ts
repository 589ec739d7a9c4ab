/** Opens the configured service that sends bots into outside calls; undefined when none is configured. */
import { createAttendeeBot } from './attendee.ts';
import type { Bot } from './bot.ts';
import { createRecallBot } from './client.ts';
import { createHttp } from '../../clients/http/http.ts';

export type BotServiceConfig = {
  service: 'recall' | 'attendee';
  apiKey: string | undefined;
  /** The service's URL; the API's path is added when it is missing. */
  apiUrl: string;
};
export type OpenBots = { outside: Bot | undefined; close(): Promise<void> };

export function openBots({ service, apiKey, apiUrl }: BotServiceConfig, egressAllow: readonly string[]): OpenBots {
  if (apiKey === undefined) return { outside: undefined, close: async () => undefined };
  const url = new URL(apiUrl);
  const base = `${url.origin}${url.pathname === '/' ? '/api/v1' : url.pathname.replace(/\/$/, '')}`;
  // The operator configured this host, so it may have any address.
  const http = createHttp({ userAgent: 'SupportPlatform/1.0', egressAllow: [...egressAllow, url.host] });
  const create = service === 'recall' ? createRecallBot : createAttendeeBot;
  return { outside: create({ http, base, key: apiKey }), close: () => http.close() };
}
