/** Requests to a service that sends bots: with its key, within limits, and with what its statuses mean for all of them. */
import { BotRefused } from './bot.ts';
import { type Http, type HttpResponse } from '../../clients/http/http.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';

/** A transcript of hours has some megabytes of words with their times. */
const maxBytes = 64 * 1024 * 1024;

export type ServiceOptions = {
  http: Pick<Http, 'request'>;
  /** Without a slash at its end. */
  base: string;
  key: string;
};
export type Answer = { status: number; body: unknown };

export type Service = {
  /** Any status resolves but those that say that the service is away. @throws ServiceAway */
  call(
    method: HttpMethod,
    path: string,
    options?: { body?: object; headers?: Record<string, string>; signal?: AbortSignal | undefined },
  ): Promise<Answer>;
  /** A file that the service links to; it gets no key. */
  download(url: string, signal?: AbortSignal): Promise<unknown>;
};

/** The service is away, busy, or refuses our key: the same request may succeed later. */
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

/** Whether an error only says that the service is away now. */
const isAway = (error: unknown): boolean => error instanceof ServiceAway || error instanceof HttpError;

/** Sends a bot; that the service is away is a refusal, too, because the workflow tries again by itself for a while. */
export async function sending<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new BotRefused('service', error);
    throw error;
  }
}
