import type { Context } from '../context.ts';
import { launch } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import { listAllDocuments } from '../../models/knowledge/document.ts';
import { createLiveCopy, isCopying, LiveCopyModel } from '../../models/knowledge/livecopy.ts';
import { listVisiblePages } from '../../models/knowledge/page.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { checkRoom, missing } from '../../models/rules/knowledge/livecopy.ts';
import { copyTestToLiveWork } from '../../models/rules/knowledge/work.ts';

/**
 * Starts copying the documents and pages of test mode, unless a copy is running.
 * @throws Problem BETA_LIMIT_REACHED when the plan has no room for all of them.
 */
export async function copyFromTest(ctx: Context, orgId: string, userId: string): Promise<void> {
  if (await isCopying(orgId, 'live')) return;
  const documents = await both(async (mode) =>
    (await listAllDocuments(orgId, mode)).map(({ sha256, status }) => ({ key: sha256, failed: status === 'failed' })),
  );
  const pages = await both(async (mode) => (await listVisiblePages(orgId, mode)).map(({ url }) => ({ key: url })));
  const readable = documents.test.filter(({ failed }) => !failed);
  checkRoom(ctx.config.quotas, {
    documents: { live: documents.live.length, missing: missing(readable, documents.live) },
    pages: { live: pages.live.length, missing: missing(pages.test, pages.live) },
  });
  const _id = newId('liveCopy');
  await launch(ctx, LiveCopyModel, [copyTestToLiveWork(orgId, _id)], ([intent]) =>
    createLiveCopy({
      _id,
      org_id: orgId,
      mode: 'live',
      requested_by: userId,
      requested_at: ctx.clock(),
      running: true,
      pending: [intent],
    }),
  );
}

async function both<T>(read: (mode: Mode) => Promise<T>): Promise<{ test: T; live: T }> {
  const [test, live] = await Promise.all([read('test'), read('live')]);
  return { test, live };
}
