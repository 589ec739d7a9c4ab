/**
 * Reads the reply to a request for a page. The page reader (`pages`) reads the HTML; `etag` and `lastModified` come
 * from the headers.
 */
import type { FetchedPage, Refused } from './fetched.ts';
import type { Pages } from './pages.ts';
import { headerOf, type HttpHeaders, type HttpResponse } from '../../http/http.ts';
import { isHtml } from '../../../models/rules/crawl/crawlreason.ts';
import { Unreadable } from '../../../models/rules/base/unreadable.ts';

/**
 * The `X-Robots-Tag` headers, one per line. They are not joined by commas, because a crawler's name in one header does
 * not apply to the next one.
 */
export function robotsTagOf(headers: HttpHeaders): string | undefined {
  const value = headers['x-robots-tag'];
  return Array.isArray(value) ? value.join('\n') : value;
}

export async function readPage(pages: Pages, reply: HttpResponse, signal: AbortSignal): Promise<FetchedPage | Refused> {
  const contentType = headerOf(reply.headers, 'content-type');
  if (!isHtml(contentType))
    return { kind: 'refused', reason: 'not_html', ...(contentType ? { detail: contentType } : {}) };
  const robotsTag = robotsTagOf(reply.headers);
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
