/** Starts the page: reads who is signed in, and connects to the organization and mode that they have chosen. */
import { effect } from '@preact/signals';
import { call } from '../api/call.ts';
import { listDocuments } from '../../../api/knowledge/contract/documents.ts';
import { clear, readWaiting } from './inbox.ts';
import { connect } from './live.ts';
import { showNotices } from './notices.ts';
import { kept } from './once.ts';
import { go } from './route.ts';
import { findLogin, here, mode, orgId, signIn, user } from './session.ts';
import { readTags } from './tags.ts';
import { attempt } from './toast.ts';

/**
 * Signs in with the demo's login, which the start page of `npm start` puts behind `#` in the link. Browsers do not send
 * the part of a URL after `#` to servers.
 */
async function signInFromLink(): Promise<void> {
  // This works only on the local host. Elsewhere, a link could sign somebody in to another person's account.
  if (!/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname)) return;
  const given = new URLSearchParams(location.hash.slice(1));
  const [email, password] = [given.get('email'), given.get('password')];
  if (!email || !password) return;
  history.replaceState(null, '', location.pathname + location.search);
  await signIn(email, password);
}

/** Opens the screen with the first steps, once, for an organization without documents. */
async function welcome(): Promise<void> {
  const { params, query } = here();
  const name = `welcomed:${params.orgId}`;
  if (location.pathname !== '/app' || kept.get(name)) return;
  kept.set(name, 'yes');
  const { count } = await call(listDocuments, { params, query: { ...query, limit: 1 } });
  if (count === 0 && location.pathname === '/app') go({ screen: 'start' }, { replace: true });
}

export async function begin(): Promise<void> {
  await attempt(signInFromLink);
  await findLogin();
  let shown = '';
  effect(() => {
    // What is shown belongs to one organization and mode, so it is cleared when they change. The content stays when the
    // same organization and mode are open after signing in again.
    const chosen = `${orgId.value} ${mode.value}`;
    if (!user.value || chosen.startsWith(' ')) return;
    if (chosen !== shown) clear();
    connect({ anew: chosen !== shown });
    shown = chosen;
    void readTags();
    void readWaiting();
    void attempt(welcome);
  });
  showNotices();
}
