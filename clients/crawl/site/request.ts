/**
 * Requests for pages. Each request waits for its turn at the host. It is retried when the site asks the crawler to
 * wait, or when the failure may be temporary. The request sleeps through a short wait; a longer wait is returned to the
 * caller as a `Delay`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask, Delay, Refused } from './fetched.ts';
import { Later, maxSleepMs, type Host, type Hosts } from './hosts.ts';
import { headerOf, type Http, type HttpResponse } from '../../http/http.ts';
import { HttpError } from '../../../models/rules/base/http.ts';
import { backOffMs, retryAfter } from '../../../models/rules/crawl/crawl.ts';
import { isHtml, isPageStatus, reasonOfStatus, reasonRow } from '../../../models/rules/crawl/crawlreason.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** Maximum size of a page, in bytes after decompression. Pages for human readers are smaller. */
const maxPageBytes = 5 * 1024 * 1024;
/** Maximum number of requests for one page, including the first one. */
const maxTries = 3;

/** The wait that a reply asks for. `of`: whether the wait concerns this page or the whole host. */
type Pause = { of: 'page' | 'host'; wait?: ReturnType<typeof retryAfter> };
/**
 * The result of one attempt. `reply`: a usable reply. `delay`: nothing was sent, because the request's turn at the host
 * is too far away; the wait in ms. `failed`: the failure, with the wait that the reply asks for (`pause`).
 */
type Attempt = { reply: HttpResponse } | { delay: number } | { failed: Refused; pause: Pause };

type Deps = { http: Http; hosts: Hosts; clock: () => Date };

/**
 * Records the wait that a reply asks for. Status 429 is about the crawler, so the wait applies to all requests to the
 * host, including those of other crawls. Status 503 is about this page only, unless several URLs in a row get it.
 * `last`: whether this reply is to the last attempt at the page.
 */
export function noteReply(host: Host, url: string, { status, headers }: HttpResponse, now: Date, last = false): Pause {
  const reason = reasonOfStatus(status);
  if (reason === undefined || !reasonRow(reason).retry) {
    host.noteSuccess();
    return { of: 'page' };
  }
  const wait = retryAfter(headerOf(headers, 'retry-after'), now.getTime());
  if (status === 429) {
    if (wait?.capped) host.giveUpFor(wait.waitMs);
    else host.pauseFor(wait?.waitMs ?? backOffMs(1, Math.random()));
    return { of: 'host', wait };
  }
  if (!wait || wait.capped || last || !host.noteOverload(url)) return { of: 'page', wait };
  host.pauseFor(wait.waitMs);
  return { of: 'host', wait };
}

/** `maxWaitMs`: the longest time that a request waits for its turn at the host. */
export type AskPage = (url: string, request: Ask, maxWaitMs: number) => Promise<HttpResponse | Refused | Delay>;

export function createPageRequests({ http, hosts, clock }: Deps): AskPage {
  async function attempt(url: string, request: Ask, maxWaitMs: number, last: boolean): Promise<Attempt> {
    const host = hosts.of(url);
    const send = async () => {
      const reply = await http.request(url, pageRequest(request));
      // The wait is recorded before the turn ends, so that the next request to the host observes it.
      return { reply, pause: noteReply(host, url, reply, clock(), last) };
    };
    try {
      const answer = await host.inTurn(send, request.signal, maxWaitMs);
      if (answer instanceof Later) {
        if (!host.isGivenUp()) return { delay: answer.waitMs };
        return { failed: { kind: 'refused', reason: 'wait_too_long' }, pause: { of: 'host' } };
      }
      const { reply, pause } = answer;
      const redirect = reply.status >= 300 && reply.status < 400;
      const reason = redirect ? undefined : reasonOfStatus(reply.status);
      if (reason === undefined) return { reply };
      if (pause.wait?.capped) return { failed: { kind: 'refused', reason: 'wait_too_long' }, pause };
      return { failed: { kind: 'refused', reason, detail: reply.status }, pause };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      request.signal.throwIfAborted();
      return { failed: { kind: 'refused', reason: error.reason, ...detailOf(error) }, pause: { of: 'page' } };
    }
  }

  return async (url, request, maxWaitMs) => {
    for (let tries = 1 + (request.tries ?? 0); ; tries += 1) {
      const last = tries >= maxTries;
      const made = await attempt(url, request, maxWaitMs, last);
      if ('reply' in made) return made.reply;
      if ('delay' in made) return { kind: 'later', of: 'host', waitMs: made.delay, tries: tries - 1 };
      const { failed, pause } = made;
      if (last || !reasonRow(failed.reason).retry) return failed;
      const waitMs = pause.wait?.waitMs ?? backOffMs(tries, Math.random());
      if (waitMs > maxSleepMs) return { kind: 'later', of: pause.of, waitMs, tries };
      await sleep(waitMs, undefined, { signal: request.signal });
    }
  };
}

function detailOf({ reason, url }: HttpError): { detail?: string } {
  if (reason === 'too_large') return { detail: '5 MiB' };
  return reason === 'no_host' ? { detail: new URL(url).hostname } : {};
}

function pageRequest({ signal, etag, lastModified }: Ask) {
  return {
    signal,
    maxBytes: maxPageBytes,
    headers: {
      accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
      ...defined({ 'if-none-match': etag, 'if-modified-since': lastModified }),
    },
    wantsBody: (head: Pick<HttpResponse, 'status' | 'headers'>) =>
      isPageStatus(head.status) && isHtml(headerOf(head.headers, 'content-type')),
  };
}
