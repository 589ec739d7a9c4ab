/**
 * The pages that a browser shows after connecting another service. A page says whether the connection worked, or why
 * not.
 */
import type { Router } from '@koa/router';
import { sendPage } from './webfiles.ts';

export type OutcomePage = {
  path: string;
  /** The sentence for each outcome; `connected` is the successful one. */
  sentences: Readonly<Record<string, string>>;
  /** The beginning of the sentence for an outcome that is not in `sentences`; the outcome itself follows. */
  otherwise: string;
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

export const outcomeAt = ({ path }: OutcomePage, outcome: string): string =>
  `${path}?outcome=${encodeURIComponent(outcome)}`;

export function mountOutcome(router: Router, { path, sentences, otherwise }: OutcomePage): void {
  router.get(path, (koa) => {
    const outcome = new URLSearchParams(koa.querystring).get('outcome')?.slice(0, 300) ?? '';
    const known = Object.hasOwn(sentences, outcome) ? sentences[outcome] : undefined;
    const sentence = known ?? `${otherwise} ${outcome}`;
    const title = outcome === 'connected' ? 'Connected' : 'Not connected';
    const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>:root { color-scheme: light dark } body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
</head>
<body>
<main><h1>${title}</h1><p>${escape(sentence)}</p></main>
</body>
</html>
`;
    sendPage(koa, html, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  });
}
