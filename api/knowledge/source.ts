/** What the routes of documents and of pages have in common: the field `embedded_at`, tagging and removal. */
import type { Context } from '../context.ts';
import { newId } from '../../models/base/ids.ts';
import type { RecordOf } from '../../models/base/define.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';
import { removeSource, tagSource, type Asked, type SourceModel } from '../../models/knowledge/source.ts';
import { noSuch } from '../../models/rules/base/errors.ts';
import type { Authority } from '../../models/rules/knowledge/authority.ts';
import { eraseSourceWork, retagSourceWork, type SourceNoun } from '../../models/rules/knowledge/work.ts';
import { launch } from '../../workflows/start.ts';

/** The time since which the source can be found by embeddings of the current model; undefined while it cannot. */
export const embeddedAt = (
  { embedded_by, embedded_at }: { embedded_by?: string; embedded_at?: Date },
  model: string | undefined,
): Date | undefined => (model !== undefined && embedded_by === model ? embedded_at : undefined);

/** The changes that requests make to documents, or to pages. @throws Problem NOT_FOUND */
export const sourceChanges = <M extends SourceModel>(noun: SourceNoun, model: M) => ({
  /**
   * Stores new tags. A workflow updates the index later; until then, searches already hide the sources that the new
   * tags exclude.
   */
  async retag(ctx: Context, asked: Asked, tags: { segments?: string[]; authority?: Authority }): Promise<RecordOf<M>> {
    const work = retagSourceWork(noun, asked.orgId, asked.sourceId, newId('request'));
    const tagged = await launch(ctx, model as never, [work], ([intent]) =>
      tagSource(model, asked, tags, ctx.clock(), intent),
    );
    if (!tagged) throw noSuch(noun);
    return tagged;
  },
  async remove(ctx: Context, asked: Asked): Promise<void> {
    const work = eraseSourceWork(noun, asked.orgId, asked.sourceId);
    const removal = await launch(ctx, RemovalModel, [work], ([intent]) =>
      removeSource(model, asked, ctx.clock(), intent),
    );
    if (!removal) throw noSuch(noun);
  },
});
