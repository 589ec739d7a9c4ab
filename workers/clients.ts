/**
 * Creates what activities need from the configuration: settings, and the clients for files, models and other services.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Readers } from './readers.ts';
import { openBots } from '../providers/recall/open.ts';
import { openEmbedding } from '../clients/embedding/open.ts';
import { openIntelligence } from '../intelligence/open.ts';
import { createFiles } from '../clients/files/files.ts';
import { createGithub } from '../providers/github/client.ts';
import { createHttp } from '../clients/http/http.ts';
import { createMcp } from '../clients/mcp/mcp.ts';
import { createLinear } from '../providers/linear/client.ts';
import { createMailer } from '../providers/mail/client.ts';
import { createObjectStore } from '../clients/s3/s3.ts';
import { createPages } from '../clients/crawl/site/pages.ts';
import { createRenderer } from '../clients/crawl/render/render.ts';
import { withMerging } from '../clients/knowledge/search/merging.ts';
import { createSearch } from '../clients/knowledge/search/search.ts';
import { createSlack } from '../providers/slack/client.ts';
import { createTeamsBot } from '../providers/teams/client.ts';
import { createSites } from '../clients/crawl/site/site.ts';
import { giveLease, takeLease } from '../models/base/lease.ts';
import { createSecretBox } from '../models/base/secretbox.ts';
import type { Config } from '../config.ts';
import { defined } from '../models/rules/base/defined.ts';

/** How long the lease for creating a table of the search index is held, in ms. No creation takes longer. */
const creationMs = 30_000;

/**
 * `readers`: the bundled programs that read files and pages, if they were built. `spares`: how many processes that read
 * files are kept ready. `close` stops running programs and closes connections.
 */
export function openClients(
  config: Config,
  { log, clock, readers, spares }: { log: Logger; clock: () => Date; readers: Readers | undefined; spares: number },
) {
  const files = createFiles({ program: readers?.files, spares });
  const http = createHttp({
    userAgent: userAgent(config),
    egressAllow: config.egressAllow,
    // A request's timeout includes its wait for a connection. So there are at least as many connections as a crawl
    // sends requests at a time.
    connectionsPerOrigin: Math.max(4, config.crawlConcurrency),
    // A span for each page of each crawl would hide the other spans.
    traced: false,
  });
  const outbound = createHttp({
    userAgent: userAgent(config, 'SupportPlatform'),
    egressAllow: config.egressAllow,
    // Endpoints of many organizations may share an origin, so this limit is high. Requests are already limited per
    // destination.
    connectionsPerOrigin: 64,
  });
  const pages = createPages({ program: readers?.pages, agent: crawlerName });
  const embedding = openEmbedding(config, log);
  const search = withMerging(
    createSearch({
      uri: config.searchUri,
      s3: config.s3,
      model: embedding.model,
      async exclusively(table, work) {
        // Each call holds the lease under an id of its own, because two simultaneous creations of a table do harm even
        // within one process.
        const [lease, holder] = [`table:${table}`, randomUUID()];
        if (!(await takeLease(lease, creationMs, holder))) return;
        await work().finally(() => giveLease(lease, holder));
      },
    }),
  );
  const renderer = createRenderer({
    executablePath: config.chromiumPath,
    ...defined({ sandbox: config.chromiumSandbox }),
    http,
    userAgent: userAgent(config),
    onStartFailure: (error) => log.error({ err: error }, 'the browser for pages that need JavaScript did not start'),
  });
  const concurrency = config.crawlConcurrency;
  const sites = createSites({ http, pages, renderer, agent: crawlerName, clock, concurrency });
  // The client for URLs that the operator configured. It may reach private hosts, because organizations cannot choose
  // these URLs.
  const services = createHttp({
    userAgent: userAgent(config),
    egressAllow: [
      ...config.egressAllow,
      ...[
        config.linearApiUrl,
        config.githubApiUrl,
        config.slack.apiUrl,
        config.teams.tokenUrl,
        ...(config.s3.endpoint === undefined ? [] : [config.s3.endpoint]),
      ].map((url) => new URL(url).host),
    ],
    connectionsPerOrigin: 20,
  });
  const linear = createLinear({ http: services, url: config.linearApiUrl });
  const github = createGithub({ http: services, url: config.githubApiUrl });
  const slack = createSlack({ http: services, url: config.slack.apiUrl });
  const bots = openBots(config.meetingBots, config.egressAllow);
  const mcp = createMcp({ http: outbound, egressAllow: config.egressAllow });
  return {
    clients: {
      files,
      sites,
      search,
      intelligence: openIntelligence(config.openai, embedding, log),
      embedding,
      linear,
      github,
      slack,
      /** Undefined unless the app id and the password of the Teams bot are configured. */
      teams: config.teams.app && createTeamsBot({ login: services, http: outbound }, config.teams.app),
      mailer: createMailer({ egressAllow: config.egressAllow }),
      objects: createObjectStore(services, config.s3),
      secrets: createSecretBox(config.secretKeys),
      /** The client for URLs that organizations configured, except crawled sites. */
      http: outbound,
      mcp,
      /** The service that sends bots into external calls, if one is configured. */
      outsideBot: bots.outside,
    },
    async close(): Promise<void> {
      await embedding.close();
      await files.close();
      await renderer.close();
      await bots.close();
      await pages.close();
      await http.close();
      await services.close();
      await mcp.close();
      await outbound.close();
      search.close();
    },
  };
}

export const settingsOf = (config: Config) => ({
  slackApp: config.slack.app,
  mail: { ...config.mail, outsidePerDay: config.rates.outside_mails.points },
  /** The S3 buckets from which received mails may be fetched. */
  inboundBuckets: config.inboundBuckets,
  publicUrl: config.publicUrl,
  /** Private hosts that requests may reach. */
  egressAllow: config.egressAllow,
  quotas: config.quotas,
  testRepliesPerMinute: config.testRepliesPerMinute,
  testConversationsPerMonth: config.testConversationsPerMonth,
});

/** The name by which robots.txt addresses the crawler. */
const crawlerName = 'SupportPlatformBot';

function userAgent({ crawlerContact }: Config, name = crawlerName): string {
  return `${name}/1.0${crawlerContact === undefined ? '' : ` (+${crawlerContact})`}`;
}
