/**
 * The API program, which kills itself with SIGKILL: between saving a record and starting its workflow, or right after
 * the write that FAULT names. FAULT_AFTER such writes succeed first.
 */
import { startApi } from '../../api/server.ts';
import { readConfig } from '../../config.ts';
import { CrawlModel } from '../../models/crawl/crawl.ts';
import { DocumentModel } from '../../models/knowledge/document.ts';
import { RoomModel } from '../../models/interviews/room.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';
import { interrupt } from './interrupt.ts';

export type ApiFault = 'document stored' | 'removal stored' | 'crawl stored' | 'consent stored' | 'room finished';
const points: Record<ApiFault, () => void> = {
  'document stored': () => interrupt(DocumentModel.collection, 'insertOne', '"sha256"', 'after'),
  'removal stored': () => interrupt(RemovalModel.collection, 'insertOne', '"removed_at"', 'after'),
  'crawl stored': () => interrupt(CrawlModel.collection, 'insertOne', '"crawling"', 'after'),
  'consent stored': () => interrupt(RoomModel.collection, 'updateOne', '{"$set":{"consented_at"', 'after'),
  'room finished': () => interrupt(RoomModel.collection, 'findOneAndUpdate', '"finished":"all_answered"', 'after'),
};
const fault = process.env['FAULT'] as ApiFault | undefined;
if (fault !== undefined) points[fault]();

const api = await startApi(readConfig(process.env), (ctx) => ({
  ...ctx,
  temporal:
    fault === undefined
      ? new Proxy(ctx.temporal, {
          get: (target, name, receiver) =>
            name === 'withDeadline' ? () => process.kill(process.pid, 'SIGKILL') : Reflect.get(target, name, receiver),
        })
      : ctx.temporal,
}));
process.send?.({ type: 'ready', url: api.url });
