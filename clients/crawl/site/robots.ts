/** The robots.txt of each origin, fetched on first use and cached for an hour. */
import { LRUCache } from 'lru-cache';
import type { Refused } from './fetched.ts';
import type { Hosts } from './hosts.ts';
import type { Http } from '../../http/http.ts';
import { HttpError } from '../../../models/rules/base/http.ts';
import { crawlDelay } from '../../../models/rules/crawl/crawl.ts';
import { explain } from '../../../models/rules/crawl/crawlreason.ts';
import { maxRobotsBytes, parseRobots, robotsPolicy, type Robots } from '../../../models/rules/crawl/robots.ts';

/** Why nothing of an origin may be fetched. `refused`: the result for each of its pages. `message`: for people. */
export type NoRules = { refused: Refused & { reason: 'no_host' | 'robots_unavailable' }; message: string };
export type Rules = { robots: Robots } | NoRules;
export type RulesOf = (origin: string, signal: AbortSignal) => Promise<Rules>;

const robotsForMs = 3_600_000;
const maxOrigins = 1_000;

/**
 * The result of requesting a robots.txt. `status` is undefined when there was no response. `lasting`: whether the
 * result is cached.
 */
type RobotsReply = { status: number | undefined; text: Buffer; noHost?: true; lasting: boolean };

export function createRobotsReader({ http, hosts, agent }: { http: Http; hosts: Hosts; agent: string }): RulesOf {
  const known = new LRUCache<string, { robots: Robots }>({ max: maxOrigins, ttl: robotsForMs });

  return async (origin, signal) => {
    const kept = known.get(origin);
    if (kept) return kept;
    const { status, text, noHost, lasting } = await fetchRobots(http, origin, signal);
    if (noHost) {
      const { hostname } = new URL(origin);
      return {
        refused: { kind: 'refused', reason: 'no_host', detail: hostname },
        message: explain('no_host', hostname),
      };
    }
    const policy = robotsPolicy(status);
    if (policy === 'wait') {
      const message = `The site's robots.txt cannot be had now (${status ?? 'no answer'}), so no page may be fetched.`;
      return { refused: { kind: 'refused', reason: 'robots_unavailable' }, message };
    }
    const rules = { robots: parseRobots(policy === 'parse' ? text : '', agent) };
    if (lasting) known.set(origin, rules);
    hosts.of(origin).setDelay(origin, crawlDelay(rules.robots.crawlDelay).delayMs);
    return rules;
  };
}

async function fetchRobots(http: Http, origin: string, signal: AbortSignal): Promise<RobotsReply> {
  const address = `${origin}/robots.txt`;
  const text = Buffer.alloc(0);
  try {
    // One byte more than the parser reads is fetched, so that the parser notices a truncated file.
    const limits = { maxBytes: maxRobotsBytes + 1, cut: true, maxRedirects: 5 };
    const { status, body } = await http.follow(address, { signal, ...limits });
    return { status, text: body, lasting: true };
  } catch (error) {
    if (!(error instanceof HttpError) || error.reason === 'aborted') throw error;
    if (error.reason === 'no_host') {
      // When a redirect leads to a host that does not exist, this origin itself may still exist.
      const own = new URL(error.url).origin === origin;
      return { status: undefined, text, lasting: false, ...(own ? { noHost: true as const } : {}) };
    }
    // A host that must not be connected to is treated as having no robots.txt; the request for the page then reports
    // the reason. The host may become reachable within the hour, so this result is not cached.
    return { status: error.temporary ? undefined : 404, text, lasting: false };
  }
}
