/** Begins: reads who is signed in, and follows what they have chosen. */
import { effect } from '@preact/signals';
import { clear } from './inbox.ts';
import { connect } from './live.ts';
import { showNotices } from './notices.ts';
import { mode, orgId, readLogin, signIn, user } from './session.ts';
import { attempt } from './toast.ts';

/** The start page of a trial puts the demo's login behind `#`, which browsers send to nobody. */
async function signInFromLink(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const [email, password] = [given.get('email'), given.get('password')];
  if (!email || !password) return;
  history.replaceState(null, '', location.pathname + location.search);
  await signIn(email, password);
}

export async function begin(): Promise<void> {
  await attempt(signInFromLink);
  if (!user.value) await attempt(readLogin);
  user.value ??= null;
  effect(() => {
    // What is shown belongs to one organization and mode.
    const chosen = `${orgId.value} ${mode.value}`;
    if (!user.value || chosen.startsWith(' ')) return;
    clear();
    connect();
  });
  showNotices();
}
