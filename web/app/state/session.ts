/** Who is signed in to this browser, and the organization and mode that they have chosen. */
import { batch, computed, signal } from '@preact/signals';
import { call, whenSignedOut } from '../api/call.ts';
import {
  getLogin,
  loginBrowser,
  logoutBrowser,
  type Membership,
  type User,
} from '../../../api/access/contract/auth.ts';
import { getOrganization } from '../../../api/access/contract/orgs.ts';
import { kept } from './once.ts';
import { attempt, said } from './toast.ts';

export type Mode = 'test' | 'live';

/** The user who is signed in: undefined until that is known, null when nobody is. */
export const user = signal<User | null | undefined>(undefined);
/**
 * Set when a login ended while somebody worked: the sign-in dialog is shown over the page, which keeps what was typed.
 */
export const signedOut = signal(false);
/** Set when the login was refused. It stays true when the dialog is closed, until an answer names the same user. */
let ended = false;
/**
 * Whether the user's login has ended, or the last tab to sign in or out did so for another person. The tabs of a
 * browser share the login and the stored `user`.
 */
export const loginEnded = (): boolean => ended || (kept.get('user') ?? user.value?.userId) !== user.value?.userId;
/** Why the page could not learn yet who is signed in; empty while no read has failed. */
export const loginError = signal('');
export const organizations = signal<readonly Membership[]>([]);
const chosen = signal(kept.get('org'));
export const org = computed(
  () => organizations.value.find(({ org_id }) => org_id === chosen.value) ?? organizations.value[0],
);
export const mode = signal<Mode>('test');
/** The id of the current organization; empty when there is none. */
export const orgId = computed(() => org.value?.org_id ?? '');
export const isAdmin = computed(() => org.value !== undefined && org.value.role !== 'member');

/** The parameters and the mode that most calls take. `more`: the other parameters of the path. */
export const here = <P extends object = object>(more?: P) => ({
  params: { orgId: orgId.value, ...(more as P) },
  query: { mode: mode.value },
});

whenSignedOut(() => {
  if (user.value) {
    ended = true;
    signedOut.value = true;
  } else user.value = null;
});

/** Reads who is signed in. */
export async function readLogin(): Promise<void> {
  const login = await call(getLogin).catch((error: { code?: string }) => {
    if (error.code !== 'UNAUTHENTICATED') throw error;
    return undefined;
  });
  if (login) await take(login);
}

const retryMs = 3_000;
/**
 * Reads who is signed in until an answer says it. A failed read does not mean that nobody is signed in, so the page
 * then shows the error in place of the sign-in form.
 */
export async function findLogin(): Promise<void> {
  while (user.value === undefined)
    try {
      await readLogin();
    } catch (error) {
      loginError.value = said(error);
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
}

let reading = false;
/**
 * Reads the login again when the member comes back to a page whose login has ended, because the member may have signed
 * in in another tab. The browser may report the return with two events, so no second read starts while one runs.
 */
async function comeBack(): Promise<void> {
  if (!user.value || !loginEnded() || reading || document.hidden) return;
  reading = true;
  await attempt(readLogin);
  reading = false;
}
window.addEventListener('focus', () => void comeBack());
document.addEventListener('visibilitychange', () => void comeBack());

export async function signIn(email: string, password: string): Promise<void> {
  await take(await call(loginBrowser, { body: { email, password } }));
}

export async function signOut(): Promise<void> {
  await call(logoutBrowser);
  kept.set('user', '');
  location.assign('/app');
}

export async function choose(id: string): Promise<void> {
  kept.set('org', id);
  chosen.value = id;
  await readMode();
}

export function chooseMode(to: Mode): void {
  kept.set(`mode:${orgId.value}`, to);
  mode.value = to;
}

async function take(login: { user: User; organizations: Membership[] }): Promise<void> {
  kept.set('user', login.user.userId);
  // When another person signs in with the dialog over the page, or in another tab, the page is loaded again, because
  // its data belong to the previous person. Until it is loaded, the login counts as ended, so waiting replies are not
  // sent.
  if (user.value && user.value.userId !== login.user.userId) return location.assign('/app');
  organizations.value = login.organizations;
  await readMode();
  ended = false;
  batch(() => {
    user.value = login.user;
    signedOut.value = false;
  });
}

/** Sets the mode: the one chosen in this browser, otherwise `live` once the organization is live. */
async function readMode(): Promise<void> {
  const id = orgId.value;
  if (!id) return;
  const was = kept.get(`mode:${id}`);
  const { environment } = await call(getOrganization, { params: { orgId: id } });
  mode.value = was === 'test' || was === 'live' ? was : environment === 'production' ? 'live' : 'test';
}
