/**
 * Commands of `docs` and `pages`: list, tag and delete what questions are answered from. The command `gaps` lists the
 * questions without an answer.
 */
import { command, listing, noun } from '../described.ts';
import { size } from '../output.ts';
import * as crawl from '../../api/crawl/contract/crawl.ts';
import * as contract from '../../api/knowledge/contract/documents.ts';
import { gapList, gapsQuery } from '../../api/knowledge/contract/knowledge.ts';

const documents = '/orgs/{orgId}/documents';
const document = `${documents}/{docId}`;
const doc = 'doc_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const segmentsHelp = 'separated by commas; "" removes all, so that it answers everybody';
const authorityHelp = 'its priority among all sources';
const forWhom = (segments: readonly string[]): string => (segments.length === 0 ? 'everybody' : segments.join(', '));

/** `docs add` and `docs reprocess` are in cli/documents.ts. */
export const docs = noun({
  name: 'docs',
  description: 'upload, list, tag and delete documents, from which questions are answered',
  example: doc,
  commands: [
    listing({
      name: 'list',
      description: 'list all documents, newest first',
      route: `GET ${documents}`,
      query: contract.documentListQuery,
      reply: contract.documentList,
      entries: 'documents',
      columns: {
        DOCUMENT: (one) => one.doc_id,
        STATUS: (one) => one.status,
        'BY MEANING': (one) => one.embedded_at,
        MODE: (one) => one.mode,
        AUTHORITY: (one) => one.authority,
        PASSAGES: (one) => one.chunk_count,
        SIZE: (one) => size(one.file_size),
        ADDED: (one) => one.created_at,
        SEGMENTS: (one) => one.segments,
        NAME: (one) => one.filename,
      },
      below: ({ doc_id, error }) => error && `${doc_id}: ${error}`,
      none: 'There are no documents yet: add one with docs add.',
    }),
    command({
      name: 'tag',
      description: 'replace the segments of a document',
      examples: [`tag ${doc} personal,business`],
      route: `PATCH ${document}/segments`,
      args: { segments: segmentsHelp },
      body: contract.segmentsBody,
      reply: contract.documentReply,
      lines: ({ document: { doc_id, segments } }) => [`${doc_id} is for: ${forWhom(segments)}`],
    }),
    command({
      name: 'authority',
      description: 'set the priority of a document among all sources',
      examples: [`authority ${doc} primary`],
      route: `PATCH ${document}/authority`,
      args: { authority: authorityHelp },
      body: contract.authorityBody,
      reply: contract.documentReply,
      lines: ({ document: { doc_id, authority } }) => [`${doc_id} is ${authority}`],
    }),
    command({
      name: 'rm',
      description: 'delete a document; it stops answering before the command ends',
      route: `DELETE ${document}`,
      reply: contract.removedReply,
      lines: ({ doc_id }) => [`Deleted ${doc_id}`],
    }),
  ],
});

const allPages = '/orgs/{orgId}/knowledge-base';
const onePage = `${allPages}/{pageId}`;
const page = 'page_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

export const pages = noun({
  name: 'pages',
  description: 'list, tag and delete crawled pages',
  example: page,
  commands: [
    listing({
      name: 'list',
      description: 'list all pages, newest first',
      route: `GET ${allPages}`,
      query: crawl.pageQuery,
      reply: crawl.pageList,
      entries: 'entries',
      columns: {
        PAGE: (one) => one.page_id,
        MODE: (one) => one.mode,
        AUTHORITY: (one) => one.authority,
        PASSAGES: (one) => one.chunk_count,
        CRAWLED: (one) => one.crawled_at,
        SEGMENTS: (one) => one.segments,
        ADDRESS: (one) => one.source_url,
      },
      none: 'There are no pages yet. Start with: crawl start <url>',
    }),
    command({
      name: 'tag',
      description: 'replace the segments of a page',
      examples: [`tag ${page} personal`],
      route: `PATCH ${onePage}/segments`,
      args: { segments: segmentsHelp },
      body: crawl.segmentsBody,
      reply: crawl.pageReply,
      lines: ({ page: { page_id, segments } }) => [`${page_id} is for: ${forWhom(segments)}`],
    }),
    command({
      name: 'authority',
      description: 'set the priority of a page among all sources',
      examples: [`authority ${page} normal`],
      route: `PATCH ${onePage}/authority`,
      args: { authority: authorityHelp },
      body: crawl.authorityBody,
      reply: crawl.pageReply,
      lines: ({ page: { page_id, authority } }) => [`${page_id} is ${authority}`],
    }),
    command({
      name: 'rm',
      description: 'delete a page; it stops answering before the command ends',
      route: `DELETE ${onePage}`,
      reply: crawl.pageRemovedReply,
      lines: ({ page_id }) => [`Deleted ${page_id}`],
    }),
  ],
});

export const gaps = noun({
  name: '',
  description: '',
  commands: [
    listing({
      name: 'gaps',
      description: 'list questions that found no answer, the latest first',
      examples: ['gaps --status open'],
      route: 'GET /orgs/{orgId}/kb/gaps',
      query: gapsQuery,
      reply: gapList,
      entries: 'gaps',
      columns: {
        ASKED: (gap) => `${gap.count} x`,
        LAST: (gap) => gap.last_asked,
        STATUS: (gap) => gap.status,
        WHY: (gap) => gap.why_missing.replaceAll('_', ' '),
        QUESTION: (gap) => gap.question,
      },
      none: 'Every question so far was answered.',
    }),
  ],
});
