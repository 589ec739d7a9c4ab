/** What documents and pages have in common as sources of answers: whose they are, and their tags. */
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
