/** What documents and pages have in common as sources of answers: whose they are, and their tags. */
import { collectionOf } from './define.ts';
import { DocumentModel } from './document.ts';
import { PageModel } from './page.ts';
import { effectiveAuthority, type Authority } from './rules/authority.ts';
import type { Mode } from './rules/keys.ts';

export type Source = {
  org_id: string;
  mode: Mode;
  segments: string[];
  /** The one that holds, its type's default included. */
  authority: Authority;
  /** Counts changes of the tags. */
  tags_version: number;
};

/** A source as it answers now: which generation of it. */
export type Live = { source_id: string; generation: number };

/** Whose sources there are that answer. */
export async function listOwners(): Promise<{ org_id: string; mode: Mode }[]> {
  const owners = new Map<string, { org_id: string; mode: Mode }>();
  for (const model of [DocumentModel, PageModel] as const) {
    const found = await collectionOf<Owned>(model as never)
      .aggregate<{ _id: { org_id: string; mode: Mode } }>([
        { $match: { live_generation: { $exists: true } } },
        { $group: { _id: { org_id: '$org_id', mode: '$mode' } } },
      ])
      .toArray();
    for (const { _id } of found) owners.set(`${_id.org_id} ${_id.mode}`, _id);
  }
  return [...owners.values()];
}

/** Everything that answers in one organization and mode. */
export async function listLive({ org_id, mode }: { org_id: string; mode: Mode }): Promise<Live[]> {
  const live = { org_id, mode, live_generation: { $exists: true } };
  const fields = { projection: { live_generation: 1 } };
  const found = await Promise.all([
    collectionOf<Owned>(DocumentModel as never)
      .find(live, fields)
      .toArray(),
    collectionOf<Owned>(PageModel as never)
      .find({ ...live, live: true }, fields)
      .toArray(),
  ]);
  return found.flat().map(({ _id, live_generation }) => ({ source_id: _id, generation: live_generation }));
}
type Owned = { _id: string; org_id: string; mode: Mode; live: boolean; live_generation: number };

/** Null when the source is gone. */
export async function findSource(orgId: string, sourceId: string): Promise<Source | null> {
  const filter = { _id: sourceId, org_id: orgId };
  if (sourceId.startsWith('page_')) {
    const page = await PageModel.findOne(filter).lean();
    return page && { ...page, authority: effectiveAuthority(page.authority, 'website') };
  }
  const document = await DocumentModel.findOne(filter).lean();
  return document && { ...document, authority: effectiveAuthority(document.authority, 'document') };
}
