/**
 * Links of pages to their own host. When a site answers "unchanged" (304), the response has no links, but the linked
 * pages must still be visited. The links have a collection of their own, because every question reads the page records.
 */
import type { ClientSession } from 'mongoose';
import { collectionOf, defineModel } from '../base/define.ts';
import { list, string } from '../rules/base/fields.ts';

const PageLinksModel = defineModel('PageLinks', 'page_links', {
  /** The page's id. */
  _id: string,
  urls: list(string),
});

/** The maximum number of stored links of a page; navigation and contents of a large site have a few hundred. */
const maxKeptLinks = 1_000;

export async function savePageLinks(pages: readonly { _id: string; links: readonly string[] }[]): Promise<void> {
  if (pages.length === 0) return;
  await collectionOf(PageLinksModel).bulkWrite(
    pages.map(({ _id, links }) => ({
      updateOne: { filter: { _id }, update: { $set: { urls: links.slice(0, maxKeptLinks) } }, upsert: true },
    })),
    { ordered: false },
  );
}

export async function findPageLinks(pageIds: readonly string[]): Promise<Map<string, string[]>> {
  const found = await collectionOf(PageLinksModel)
    .find({ _id: { $in: [...pageIds] } })
    .toArray();
  return new Map(found.map(({ _id, urls }) => [_id, urls]));
}

export async function dropPageLinks(pageIds: readonly string[], session?: ClientSession): Promise<void> {
  await collectionOf(PageLinksModel).deleteMany({ _id: { $in: [...pageIds] } }, session ? { session } : {});
}
