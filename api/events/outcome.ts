/** The page on which connecting to a service ends in the browser: whether it is connected, or why not. */
import type { Router } from '@koa/router';

const sentences: Readonly<Record<string, string>> = {
  connected: 'Slack is connected. You can close this page.',
  access_denied: 'Slack was not connected, because access was denied there (access_denied).',
  unknown_state:
    'Slack was not connected: this request is over, was finished before, or was not begun in this browser. Begin it again (unknown_state).',
  no_code: 'Slack was not connected: it sent no code. Begin it again (no_code).',
  no_longer_admin: 'Slack was not connected: whoever began it is no longer an owner or admin (no_longer_admin).',
  unavailable: 'Slack was not connected: it could not be asked right now. Begin it again (unavailable).',
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

/** The address of the page; `outcome` is a word of the table above, or the service's own. */
export const outcomePath = (outcome: string): string => `/connections/slack?outcome=${encodeURIComponent(outcome)}`;

export function mountOutcome(router: Router): void {
  router.get('/connections/slack', (koa) => {
    const outcome = new URLSearchParams(koa.querystring).get('outcome')?.slice(0, 300) ?? '';
    const known = Object.hasOwn(sentences, outcome) ? sentences[outcome] : undefined;
    const sentence = known ?? `Slack was not connected. ${outcome}`;
    koa.type = 'text/html';
    koa.set('cache-control', 'no-store');
    koa.set('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    koa.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${outcome === 'connected' ? 'Connected' : 'Not connected'}</title>
<style>:root { color-scheme: light dark } body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
</head>
<body>
<main><h1>${outcome === 'connected' ? 'Connected' : 'Not connected'}</h1><p>${escape(sentence)}</p></main>
</body>
</html>
`;
  });
}
