/** Routes of crawled pages: list, tag, delete. */
import { key } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/crawl.ts';
import { paged } from '../../http/cursor.ts';
import { launch } from '../../../workflows/start.ts';
import { route } from '../../http/route.ts';
import { embeddedAt } from '../../knowledge/source.ts';
import { countPages, listPages, PageModel, type Page } from '../../../models/knowledge/page.ts';
import { newId } from '../../../models/base/ids.ts';
import { RemovalModel } from '../../../models/knowledge/removal.ts';
import { removeSource, tagSource } from '../../../models/knowledge/source.ts';
import { effectiveAuthority, type Authority } from '../../../models/rules/knowledge/authority.ts';
import { noSuch } from '../../../models/rules/base/errors.ts';
import { normalizeSegments } from '../../../models/rules/knowledge/segments.ts';
import { eraseSourceWork, retagSourceWork } from '../../../models/rules/knowledge/work.ts';

const missing = () => noSuch('page');

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

/**
 * Stores new tags. A workflow updates the index later; until then, searches already hide the pages that the new tags
 * exclude.
 */
async function retag(
  ctx: Context,
  orgId: string,
  modes: Page['mode'][],
  pageId: string,
  tags: { segments?: string[]; authority?: Authority },
) {
  const work = retagSourceWork('page', orgId, pageId, newId('request'));
  const tagged = await launch(ctx, PageModel, [work], ([intent]) =>
    tagSource(PageModel, { orgId, modes, sourceId: pageId }, tags, ctx.clock(), intent),
  );
  if (!tagged) throw missing();
  return { page: view(tagged, ctx) };
}

export const pageRoutes = [
  route('listPages', 'GET /orgs/{orgId}/knowledge-base', {
    summary: 'List the crawled pages that answer questions, newest first.',
    auth: key('support:read'),
    query: contract.pageQuery,
    reply: contract.pageList,
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listPages(orgId, modes, limit, after)),
        countPages(orgId, modes),
      ]);
      return { entries: entries.map((entry) => view(entry, ctx)), count, cursor };
    },
  }),
  route('setPageSegments', 'PATCH /orgs/{orgId}/knowledge-base/{pageId}/segments', {
    summary: 'Replace a page’s segments; an empty list makes it answer every segment.',
    auth: key('support:write'),
    body: contract.segmentsBody,
    reply: contract.pageReply,
    async handle({ params: { orgId, pageId }, body, principal: { modes } }, ctx) {
      return retag(ctx, orgId, modes, pageId, { segments: normalizeSegments(body.segments) });
    },
  }),
  route('setPageAuthority', 'PATCH /orgs/{orgId}/knowledge-base/{pageId}/authority', {
    summary: 'Set a page’s priority.',
    auth: key('support:write'),
    body: contract.authorityBody,
    reply: contract.pageReply,
    async handle({ params: { orgId, pageId }, body, principal: { modes } }, ctx) {
      return retag(ctx, orgId, modes, pageId, { authority: body.authority });
    },
  }),
  route('deletePage', 'DELETE /orgs/{orgId}/knowledge-base/{pageId}', {
    summary: 'Delete a page and its chunks; when this returns, nothing of it answers any more.',
    auth: key('support:write'),
    reply: contract.pageRemovedReply,
    async handle({ params: { orgId, pageId }, principal: { modes } }, ctx) {
      const removal = await launch(ctx, RemovalModel, [eraseSourceWork('page', orgId, pageId)], ([intent]) =>
        removeSource(PageModel, { orgId, modes, sourceId: pageId }, ctx.clock(), intent),
      );
      if (!removal) throw missing();
      return { page_id: pageId, deleted: true as const };
    },
  }),
];
