/**
 * Commands of `docs` and `pages`: list, tag and delete the documents and pages from which questions are answered. Two
 * commands have no noun: `gaps` lists the questions without an answer, and `prune` finds stored data that belongs to no
 * page.
 */
import { command, listing, noun } from '../described.ts';
import { size } from '../output.ts';
import * as crawl from '../../api/crawl/contract/crawl.ts';
import { pruneKnowledge } from '../../api/crawl/contract/prune.ts';
import * as contract from '../../api/knowledge/contract/documents.ts';
import { listGaps } from '../../api/knowledge/contract/knowledge.ts';

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
      does: contract.listDocuments,
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
      does: contract.setDocumentSegments,
      args: { segments: segmentsHelp },
      lines: ({ document: { doc_id, segments } }) => [`${doc_id} is for: ${forWhom(segments)}`],
    }),
    command({
      name: 'authority',
      description: 'set the priority of a document among all sources',
      examples: [`authority ${doc} primary`],
      does: contract.setDocumentAuthority,
      args: { authority: authorityHelp },
      lines: ({ document: { doc_id, authority } }) => [`${doc_id} is ${authority}`],
    }),
    command({
      name: 'rm',
      description: 'delete a document; it stops answering before the command ends',
      does: contract.deleteDocument,
      lines: ({ doc_id }) => [`Deleted ${doc_id}`],
    }),
  ],
});

const page = 'page_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

export const pages = noun({
  name: 'pages',
  description: 'list, tag and delete crawled pages',
  example: page,
  commands: [
    listing({
      name: 'list',
      description: 'list all pages, newest first',
      does: crawl.listPages,
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
      does: crawl.setPageSegments,
      args: { segments: segmentsHelp },
      lines: ({ page: { page_id, segments } }) => [`${page_id} is for: ${forWhom(segments)}`],
    }),
    command({
      name: 'authority',
      description: 'set the priority of a page among all sources',
      examples: [`authority ${page} normal`],
      does: crawl.setPageAuthority,
      args: { authority: authorityHelp },
      lines: ({ page: { page_id, authority } }) => [`${page_id} is ${authority}`],
    }),
    command({
      name: 'rm',
      description: 'delete a page; it stops answering before the command ends',
      does: crawl.deletePage,
      lines: ({ page_id }) => [`Deleted ${page_id}`],
    }),
  ],
});

export const knowledge = noun({
  name: '',
  description: '',
  commands: [
    listing({
      name: 'gaps',
      description: 'list questions that found no answer, the latest first',
      examples: ['gaps --status open'],
      does: listGaps,
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
    command({
      name: 'prune',
      description: 'find stored parts of crawled pages that no longer exist',
      examples: ['prune', 'prune --apply'],
      does: pruneKnowledge,
      lines: ({ orphaned, live }, { apply }) => [
        ...orphaned.map((one) => `${one.source_id}  ${one.chunks} passages  ${one.url ?? ''}`.trimEnd()),
        `${live} pages are whole; ${orphaned.length} left-overs ${apply ? 'being removed' : 'found'}`,
      ],
    }),
  ],
});
