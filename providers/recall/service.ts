/**
 * Sends requests to a service for meeting bots, with the API key and limits on time and size. It maps HTTP statuses
 * that mean the same for all such services.
 */
import { BotRefused } from './bot.ts';
import { type Http, type HttpResponse } from '../../clients/http/http.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';

/** A transcript of several hours has some megabytes of words with timestamps. */
const maxBytes = 64 * 1024 * 1024;

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
};

/** The service is unavailable, overloaded, or rejects our API key. A retry may succeed. */
export class ServiceAway extends Error {
  override readonly name = 'ServiceAway';
}

const away = (status: number): boolean => status === 429 || status >= 500;

export function createService({ http, base, key }: ServiceOptions): Service {
  return {
    async call(method, path, { body, headers = {}, signal } = {}) {
      const response = await http.request(`${base}${path}`, {
        method,
        headers: {
          authorization: `Token ${key}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        maxBytes,
        signal,
      });
      if (away(response.status)) throw new ServiceAway(`The service of meeting bots answered ${response.status}.`);
      return { status: response.status, body: jsonOf(response) };
    },
    async download(url, signal) {
      const response = await http.request(url, { maxBytes, signal });
      if (response.status !== 200) throw new ServiceAway(`A transcript's link answered ${response.status}.`);
      return jsonOf(response);
    },
  };
}

function jsonOf({ body }: HttpResponse): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether an error means that the service is temporarily unavailable. */
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
