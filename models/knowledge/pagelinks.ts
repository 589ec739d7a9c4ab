/**
 * Where pages link to within their site: a site that answers "unchanged" sends no links, and what lies behind must be
 * visited all the same. Apart from the pages, which are read by every question.
 */
import type { ClientSession } from 'mongoose';
import { collectionOf, defineModel } from '../base/define.ts';
import { list, string } from '../rules/base/fields.ts';

const PageLinksModel = defineModel('PageLinks', 'page_links', {
  /** The page's. */
  _id: string,
  urls: list(string),
});

/** Kept of one page; navigation and contents of a large site are some hundred. */
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

/** By the page's id. */
export async function findPageLinks(pageIds: readonly string[]): Promise<Map<string, string[]>> {
  const found = await collectionOf(PageLinksModel)
    .find({ _id: { $in: [...pageIds] } })
    .toArray();
  return new Map(found.map(({ _id, urls }) => [_id, urls]));
}

/** Removes what is kept of these pages. */
export async function dropPageLinks(pageIds: readonly string[], session?: ClientSession): Promise<void> {
  await collectionOf(PageLinksModel).deleteMany({ _id: { $in: [...pageIds] } }, session ? { session } : {});
}
