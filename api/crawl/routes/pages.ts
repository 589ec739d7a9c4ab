/** Routes of crawled pages: list, tag, delete. */
import { key } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/crawl.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { embeddedAt, sourceChanges } from '../../knowledge/source.ts';
import { countPages, listPages, PageModel, type Page } from '../../../models/knowledge/page.ts';
import { effectiveAuthority } from '../../../models/rules/knowledge/authority.ts';
import { normalizeSegments } from '../../../models/rules/knowledge/segments.ts';

function view(record: Page, { embedding: { model } }: Pick<Context, 'embedding'>) {
  return {
    ...record,
    page_id: record._id,
    id: record._id,
    source_url: record.url,
    status: 'indexed' as const,
    authority: effectiveAuthority(record.authority, 'website'),
    embedded_at: embeddedAt(record, model),
  };
}

const pages = sourceChanges('page', PageModel);

export const pageRoutes = [
  route(contract.listPages, {
    summary: 'List the crawled pages that answer questions, newest first.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listPages(orgId, modes, limit, after)),
        countPages(orgId, modes),
      ]);
      return { entries: entries.map((entry) => view(entry, ctx)), count, cursor };
    },
  }),
  route(contract.setPageSegments, {
    summary: 'Replace a page’s segments; an empty list makes it answer every segment.',
    auth: key('support:write'),
    async handle({ params: { orgId, pageId }, body, principal: { modes } }, ctx) {
      const tags = { segments: normalizeSegments(body.segments) };
      return { page: view(await pages.retag(ctx, { orgId, modes, sourceId: pageId }, tags), ctx) };
    },
  }),
  route(contract.setPageAuthority, {
    summary: 'Set a page’s priority.',
    auth: key('support:write'),
    async handle({ params: { orgId, pageId }, body, principal: { modes } }, ctx) {
      const tags = { authority: body.authority };
      return { page: view(await pages.retag(ctx, { orgId, modes, sourceId: pageId }, tags), ctx) };
    },
  }),
  route(contract.deletePage, {
    summary: 'Delete a page and its chunks; when this returns, nothing of it answers any more.',
    auth: key('support:write'),
    async handle({ params: { orgId, pageId }, principal: { modes } }, ctx) {
      await pages.remove(ctx, { orgId, modes, sourceId: pageId });
      return { page_id: pageId, deleted: true as const };
    },
  }),
];
