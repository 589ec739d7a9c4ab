/**
 * The page at `/`, with links and example calls of the API. The page is public: of the demo organization, it shows only
 * data that every page with the organization's chat contains. Only a browser on the machine that runs the system gets a
 * link that signs in to the team page as the demo's owner.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { addressOf } from './address.ts';
import { sendPage } from './webfiles.ts';

const style = `
:root { color-scheme: light dark; --ground: light-dark(#f7f8f5, #14181a); --raised: light-dark(#fff, #1e2427); --text: light-dark(#1d2622, #e6ebe8); --quiet: light-dark(#55625b, #a5b1ab); --brand: light-dark(#1f6b4a, #7fcfa8) }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 50rem; padding: 2rem clamp(1rem, 5vw, 3rem) 4rem; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif }
h1 { margin: 0; font-size: clamp(1.6rem, 5vw, 2.2rem); line-height: 1.2 }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.25rem }
a { color: var(--brand) }
ul { margin: 1.5rem 0 0; padding: 0; display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); list-style: none }
li { padding: 1rem 1.25rem; border-radius: 12px; background: var(--raised) }
li a { font-weight: 600 }
p { margin: 0.5rem 0 }
.quiet { color: var(--quiet) }
pre { margin: 0.25rem 0 1.25rem; padding: 0.9rem 1.1rem; border-radius: 12px; background: var(--raised); white-space: pre-wrap; overflow-wrap: anywhere }
pre, code { font: 0.875rem/1.5 ui-monospace, monospace }
`;
const hash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const demo = z.object({
  org_id: z.string(),
  publishable_key: z.string(),
  email: z.string(),
  password: z.string(),
});
type Demo = z.infer<typeof demo>;

/** The demo organization that `npm start` created; undefined when there is none. */
async function readDemo(dataDir: string): Promise<Demo | undefined> {
  try {
    return demo.parse(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => entities[sign]!);

const link = (href: string, name: string, what: string): string =>
  `<li><a href="${escaped(href)}">${name}</a><br><span class="quiet">${what}</span></li>`;
const step = (what: string, lines: string): string => `<p>${what}</p>\n<pre><code>${escaped(lines)}</code></pre>`;

function page(
  { publicUrl, temporalUiUrl }: { publicUrl: string; temporalUiUrl?: string | undefined },
  org: Demo | undefined,
  signIn: Pick<Demo, 'email' | 'password'> | undefined,
) {
  const api = `${publicUrl}/v1`;
  const auth = '-H "Authorization: Bearer $KEY"';
  const json = "-H 'Content-Type: application/json'";
  const account = `{"email":"you@example.com","password":"twelve characters or more","name":"You","company":"Your company"}`;
  const before = org
    ? step(
        'The organization is a demonstration. Its test key and its login are on the screen of <code>npm start</code>. Put the key into a variable:',
        `export ORG=${org.org_id} KEY=svc_sk_test_…`,
      )
    : [
        step(
          'Create an account with an organization; the answer has both:',
          `curl -sS ${json} -d '${account}' ${api}/auth/register`,
        ),
        step(
          'Create a test key with the token of that answer; this answer has the key:',
          `export ORG=org_… TOKEN=…\n\ncurl -sS -H "Authorization: Bearer $TOKEN" ${json} -d '{"name":"first","scopes":["support:read","support:write"]}' ${api}/support/developer-keys/orgs/$ORG/keys\n\nexport KEY=svc_sk_test_…`,
        ),
      ].join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Support platform</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<h1>Support platform</h1>
<p>The API is at <code>${escaped(api)}</code>.</p>
</header>
<main>
<nav aria-label="Where things are">
<ul>
${[
  link(
    signIn ? `/app#${new URLSearchParams(signIn).toString()}` : '/app',
    'Team page',
    'Inbox, knowledge, tools and settings, for those who answer customers',
  ),
  link('/docs', 'API reference', 'Every route, to read and to try out'),
  org
    ? link(`/demo?key=${org.publishable_key}`, 'Chat widget', 'On the page of a bank; it answers from help.md')
    : link(
        '/demo',
        'Chat widget',
        'On the page of a bank; <code>/demo?key=svc_pk_test_…</code> with your publishable key',
      ),
  ...(temporalUiUrl ? [link(temporalUiUrl, 'Temporal UI', 'What runs, what waits, and what failed')] : []),
  link('/health/ready', 'Health', 'Whether MongoDB, Temporal and the models answer'),
  link('/v1/openapi.json', 'OpenAPI 3.1', 'The same reference for programs'),
].join('\n')}
</ul>
</nav>
<h2>First calls</h2>
${before}
${step('Upload a document:', `curl -sS ${auth} -F 'file=# Parking. Customers park for free for two hours. Each further hour costs 3 EUR.;filename=parking.md;type=text/markdown' ${api}/orgs/$ORG/documents`)}
${step('List the documents, until it is <code>indexed</code>:', `curl -sS ${auth} ${api}/orgs/$ORG/documents`)}
${step('Ask a question:', `curl -sS ${auth} ${json} -d '{"query":"What does parking cost after two hours?"}' ${api}/orgs/$ORG/kb/query`)}
<h2>From the command line</h2>
${step('In the folder of the project:', `export SUPPORT_URL=${api} SUPPORT_API_KEY=$KEY\nnpm run -s cli -- ask "What does parking cost after two hours?"\nnpm run -s cli -- --help`)}
</main>
</body>
</html>
`;
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);

/**
 * Whether the request comes from this machine, and the system's public URL is for this machine only. Then the browser
 * gets the demo's login, which `npm start` also prints. The host name in the request must be local, too. Otherwise
 * another site could make its own host name point to this machine and read the login (DNS rebinding).
 */
const isHere = (koa: Koa.Context, config: Context['config']): boolean =>
  [
    new URL(config.publicUrl).hostname,
    koa.hostname,
    addressOf(koa.req, config.trustProxy).replace(/^::ffff:/, ''),
  ].every(isLoopback);

export function mountStartPage(router: Router, { config }: Pick<Context, 'config'>): void {
  router.get('/', async (koa) => {
    const org = await readDemo(config.dataDir);
    const signIn = org && isHere(koa, config) ? { email: org.email, password: org.password } : undefined;
    sendPage(koa, page(config, org, signIn), policy);
  });
  router.get('/health', (koa) => koa.redirect('/health/ready'));
}
