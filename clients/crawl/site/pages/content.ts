/** What is read from a page. A page process imports only the types, because it does not load zod. */
import { z } from 'zod';
import { maxPageLinks } from './limits.ts';

export const pageContent = z.object({
  title: z.string(),
  /** A language tag such as `de` or `pt-BR`, as the page declares it. */
  language: z.string().exactOptional(),
  /** The absolute URL in `<link rel="canonical">`. The caller decides whether to follow it. */
  canonical: z.string().exactOptional(),
  /**
   * The absolute URL to which the page redirects itself (`<meta http-equiv="refresh">`), at once or after a few
   * seconds.
   */
  refresh: z.string().exactOptional(),
  noindex: z.boolean(),
  nofollow: z.boolean(),
  /** The unique links in page order, without fragments; empty when the page says `nofollow`. */
  links: z.array(z.object({ url: z.string(), nofollow: z.boolean() })).max(maxPageLinks),
  /** The chunks of the main text; empty when the page says `noindex` or has no text. */
  chunks: z.array(z.object({ ordinal: z.int(), heading: z.string(), text: z.string() })),
  /** The number of characters of the main text. */
  textLength: z.int(),
  /**
   * SHA-256, in hex, of title, headings and main text. Scripts, attributes, nonces and white space do not change it.
   */
  contentHash: z.string().length(64),
  /** Whether the page looks as if its content only appears after scripts have run. */
  empty: z.boolean(),
});
export type PageContent = z.infer<typeof pageContent>;
export type PageLink = PageContent['links'][number];
