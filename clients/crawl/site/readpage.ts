/**
 * Reads the reply to a request for a page. The page reader (`pages`) reads the HTML; `etag` and `lastModified` come
 * from the headers.
 */
import type { FetchedPage, Refused } from './fetched.ts';
import type { Pages } from './pages.ts';
import { headerOf, type HttpResponse } from '../../http/http.ts';
import { isHtml } from '../../../models/rules/crawl/crawlreason.ts';
import { Unreadable } from '../../../models/rules/base/unreadable.ts';

export async function readPage(pages: Pages, reply: HttpResponse, signal: AbortSignal): Promise<FetchedPage | Refused> {
  const contentType = headerOf(reply.headers, 'content-type');
  if (!isHtml(contentType))
    return { kind: 'refused', reason: 'not_html', ...(contentType ? { detail: contentType } : {}) };
  const robotsTag = headerOf(reply.headers, 'x-robots-tag');
  const etag = headerOf(reply.headers, 'etag');
  const lastModified = headerOf(reply.headers, 'last-modified');
  try {
    const content = await pages.read(
      {
        url: reply.url,
        body: reply.body,
        ...(contentType ? { contentType } : {}),
        ...(robotsTag ? { robotsTag } : {}),
      },
      { signal },
    );
    return { kind: 'page', content, etag, lastModified };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'refused', reason: 'unreadable', detail: error.message };
    throw error;
  }
}
