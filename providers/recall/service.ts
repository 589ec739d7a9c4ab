/**
 * Sends requests to a service for meeting bots, with the API key and limits on time and size. It maps HTTP statuses
 * that mean the same for all such services.
 */
import { z } from 'zod';
import { BotRefused, type Bot } from './bot.ts';
import type { Http } from '../../clients/http/http.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

/** A transcript of several hours has some megabytes of words with timestamps. */
const maxBytes = 64 * 1024 * 1024;

/** The services' answer about a new bot, and their list of bots. */
export const created = z.object({ id: z.string() });
const listed = z.object({ results: z.array(created) });

export type ServiceOptions = {
  http: Pick<Http, 'request'>;
  /** The URL without a trailing slash. */
  base: string;
  key: string;
};
export type Answer = { status: number; body: unknown };

export type Service = {
  /** Resolves with any status except those that mean the service is unavailable. @throws ServiceAway */
  call(
    method: HttpMethod,
    path: string,
    options?: { body?: object; headers?: Record<string, string>; signal?: AbortSignal | undefined },
  ): Promise<Answer>;
  /** Downloads a file that the service links to, without the API key. */
  download(url: string, signal?: AbortSignal): Promise<unknown>;
  /** The ids of bots ordered with this idempotency key. Undefined when the service does not list them. */
  known(key: string, signal: AbortSignal | undefined): Promise<string[] | undefined>;
  /** Like `known`. @throws ServiceAway when the service does not list them */
  sent: Bot['sent'];
};

/** The service is unavailable, overloaded, or rejects the API key. A retry may succeed. */
export class ServiceAway extends Error {
  override readonly name = 'ServiceAway';
}

const away = (status: number): boolean => status === 429 || status >= 500;
const awayWith = (status: number): ServiceAway => new ServiceAway(`The service of meeting bots answered ${status}.`);

/**
 * Whether the service knows the bot that the answer is about. A refusal, such as that of the API key, says nothing
 * about the bot. @throws ServiceAway
 */
export function knowsBot({ status }: Answer): boolean {
  if (status === 404) return false;
  if (status < 200 || status >= 300) throw awayWith(status);
  return true;
}

/** `listing`: the path that lists the bots of an idempotency key, without the key at its end. */
export function createService({ http, base, key: apiKey }: ServiceOptions, listing: string): Service {
  const service: Service = {
    async call(method, path, { body, headers = {}, signal } = {}) {
      const response = await http.request(`${base}${path}`, {
        method,
        headers: {
          authorization: `Token ${apiKey}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        maxBytes,
        signal,
      });
      if (away(response.status)) throw awayWith(response.status);
      return { status: response.status, body: jsonIn(response.body) };
    },
    async download(url, signal) {
      const response = await http.request(url, { maxBytes, signal });
      if (response.status !== 200) throw new ServiceAway(`A transcript's link answered ${response.status}.`);
      return jsonIn(response.body);
    },
    async known(key, signal) {
      const { status, body } = await service.call('GET', `${listing}${encodeURIComponent(key)}`, { signal });
      return status === 200 ? listed.safeParse(body).data?.results.map(({ id }) => id) : undefined;
    },
    async sent(key, signal) {
      const ids = await service.known(key, signal);
      if (!ids) throw new ServiceAway('The service of meeting bots does not list its bots.');
      return ids;
    },
  };
  return service;
}

const isAway = (error: unknown): boolean => error instanceof ServiceAway || error instanceof HttpError;

/**
 * Runs a request for a new bot. When the service is unavailable, throws `BotRefused`, because the workflow repeats such
 * requests on its own schedule.
 */
export async function sending<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new BotRefused('service', error);
    throw error;
  }
}
