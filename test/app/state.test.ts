/**
 * The state of the page `/app`: what it keeps, and when it calls the API. The browser, the API and the socket are
 * stand-ins, so that a test decides when each response arrives.
 */
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { InboxConversation } from '../../api/chat/contract/inbox.ts';

/** A call of the page that waits for its response. */
type Waiting = { method: string; url: string; sent: unknown; answer: (body: object, status?: number) => Promise<void> };
const calls: Waiting[] = [];
const page = Object.assign(new EventTarget(), { hidden: false });
let hear: (event: { data: string }) => void = () => undefined;

class Socket {
  static readonly OPEN = 1;
  readonly readyState = Socket.OPEN;
  addEventListener(type: string, listener: typeof hear): void {
    if (type === 'message') hear = listener;
  }
  send(): void {
    return undefined;
  }
  close(): void {
    return undefined;
  }
}

/** Lets everything run that waits for no response. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// The timers of the page would keep the process alive.
jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
/** The paths that the page has loaded anew. */
const loads: string[] = [];
const place = {
  pathname: '/app/inbox',
  search: '?box=all',
  host: '127.0.0.1',
  protocol: 'http:',
  assign: (path: string) => void loads.push(path),
};
const tab = new EventTarget();
Object.assign(globalThis, {
  document: page,
  location: place,
  history: { pushState: (_state: unknown, _title: string, path: string) => (place.pathname = path) },
  window: tab,
  WebSocket: Socket,
  fetch: (url: string, { method, body: sent }: { method: string; body?: unknown }) =>
    new Promise((resolve) => {
      calls.push({
        method,
        url,
        sent: typeof sent === 'string' ? (JSON.parse(sent) as unknown) : sent,
        async answer(body, status = 200) {
          const text = JSON.stringify(body);
          resolve({ ok: status < 300, status, headers: new Headers(), text: () => Promise.resolve(text) });
          await settled();
        },
      });
    }),
});
// The files need the stand-ins when they are loaded. Their types are those of browser code, which this file lacks.
const load = (name: string) => import(`../../web/app/state/${name}.ts`);
const session = await load('session');
const live = await load('live');
const inbox = await load('inbox');
const state = await load('conversation');
const notices = await load('notices');
const route = await load('route');
const { kept } = await load('once');
const { minute } = await load('minute');
const tags = await load('tags');
const { unsavedArticle } = await load('article');
const { oneAtATime } = await load('../screens/frame/loaded');

/** Takes the first waiting call of this method whose URL contains `part`. */
function take(method: string, part: string): Waiting {
  const at = calls.findIndex((one) => one.method === method && one.url.includes(part));
  if (at < 0) throw new Error(`no ${method} ${part} among ${calls.map((one) => `${one.method} ${one.url}`).join()}`);
  return calls.splice(at, 1)[0]!;
}

const entry = (convId: string, more: Partial<InboxConversation> = {}) => ({
  conv_id: convId,
  org_id: 'org_1',
  mode: 'test',
  status: 'open',
  tags: [],
  snoozed: null,
  waiting_since: null,
  assigned_to: null,
  unread: 0,
  last_message_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const found = (convId: string, more: object = {}) => ({
  conversation: entry(convId),
  messages: [],
  notes: [],
  events: [],
  context: {},
  cursor: null,
  ...more,
});
/** The messages with the numbers `from` to `to`, written at one a minute. */
const said = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_message, at) => ({
    id: `msg_${from + at}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, from + at)).toISOString(),
  }));
const listed = (): string[] => inbox.shown.value.map(({ conv_id }: InboxConversation) => conv_id);

async function opened(convId: string, more: object = {}): Promise<void> {
  const opening = state.open(convId);
  await take('GET', `/${convId}?`).answer(found(convId, more));
  await opening;
}
async function connected(): Promise<void> {
  live.connect({ anew: true });
  await take('POST', '/support/live/').answer({ success: true, data: { ws_url: 'ws://127.0.0.1/live' } });
}
const frame = (type: string, more: object = {}): void => hear({ data: JSON.stringify({ type, seq: 0, ...more }) });

beforeEach(async () => {
  await state.open('');
  calls.length = 0;
  loads.length = 0;
  page.hidden = false;
  session.user.value = { userId: 'usr_1', name: 'Ada', email: 'ada@example.com' };
  session.organizations.value = [{ org_id: 'org_1', name: 'Bank', role: 'member' }];
  session.mode.value = 'test';
  state.drafts.value = new Map();
  state.noteDrafts.value = new Map();
  inbox.clear();
});

describe('replies and notes that are being written', () => {
  it('the agent’s draft is added to the conversation for which it was requested, even when another conversation is open by then', async () => {
    await opened('conv_a');
    state.type('Hello.');
    const drawn = state.suggest();
    await opened('conv_b');
    state.type('Mine');
    await take('POST', '/conv_a/suggest').answer({ suggestion: { body: 'A card costs 5 EUR.' } });
    expect(await drawn).toBe(true);
    expect(Object.fromEntries(state.drafts.value)).toEqual({
      conv_a: 'Hello.\n\nA card costs 5 EUR.',
      conv_b: 'Mine',
    });
  });

  it('a note that is sent twice is stored once, and text that is typed meanwhile is kept', async () => {
    await opened('conv_a');
    state.typeNote('Watch the post.');
    const saved = Promise.all([state.writeNote(), state.writeNote()]);
    state.typeNote('And the mail.');
    await take('POST', '/conv_a/notes').answer({ note: {} }, 201);
    await take('GET', '/conv_a?').answer(found('conv_a'));
    await saved;
    expect(state.noteDraft.value).toBe('And the mail.');
    expect(calls).toEqual([]);
  });

  it('a note that could not be stored is put back into its conversation’s draft, even when another conversation is open', async () => {
    await opened('conv_a');
    state.typeNote('Watch the post.');
    const saved = state.writeNote();
    state.typeNote('And the mail.');
    await opened('conv_b');
    expect(state.noteDraft.value).toBe('');
    await take('POST', '/conv_a/notes').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    await saved;
    await opened('conv_a');
    expect(state.noteDraft.value).toBe('Watch the post.\n\nAnd the mail.');
  });

  it('a refused reply that is taken back for editing is added to a newer draft, and does not replace the draft', async () => {
    await opened('conv_a');
    state.type('Old');
    state.reply();
    await take('POST', '/conv_a/reply').answer({ error: 'It is closed.', code: 'CONFLICT' }, 409);
    state.type('New');
    state.takeBack(state.outgoing.value[0]);
    expect(state.draft.value).toBe('New\n\nOld');
    expect(state.outgoing.value).toEqual([]);
  });

  it('a reply that waits for the connection is sent to the organization and mode in which it was written', async () => {
    await opened('conv_a');
    state.type('Hello.');
    state.reply();
    await take('POST', '/conv_a/reply').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    await state.open('');
    session.organizations.value = [{ org_id: 'org_2', name: 'Shop', role: 'member' }];
    session.mode.value = 'live';
    jest.advanceTimersByTime(3_000);
    const again = take('POST', '/conv_a/reply');
    expect(again.url).toMatch(/\/org_1\/conv_a\/reply\?mode=test$/);
    await again.answer({ message: {} }, 201);
    expect(state.outgoing.value).toEqual([]);
  });
});

describe('the login', () => {
  const nobody = { error: 'Sign in.', code: 'UNAUTHENTICATED' };
  const login = (userId: string) => ({
    success: true,
    data: {
      user: { userId, name: 'Ada', email: 'ada@example.com' },
      organizations: [{ org_id: 'org_1', name: 'Bank', role: 'member' }],
    },
  });
  const sandbox = { success: true, data: { environment: 'sandbox' } };

  it('when a member has signed in again in another tab and comes back, the page goes on, even after the sign-in dialog was closed', async () => {
    await opened('conv_a');
    state.type('Hello.');
    const refused = tags.readTags();
    await take('GET', '/tags').answer(nobody, 401);
    await refused;
    expect(session.signedOut.value).toBe(true);
    session.signedOut.value = false;
    // While nobody is signed in, coming back opens the dialog again.
    tab.dispatchEvent(new Event('focus'));
    await take('GET', '/auth/me').answer(nobody, 401);
    expect(session.signedOut.value).toBe(true);

    const before = session.user.value;
    page.dispatchEvent(new Event('visibilitychange'));
    tab.dispatchEvent(new Event('focus'));
    await take('GET', '/auth/me').answer(login('usr_1'));
    await take('GET', '/orgs/org_1').answer(sandbox);
    // The page connects again whenever the user is set.
    expect(session.user.value).not.toBe(before);
    expect([session.signedOut.value, state.draft.value, loads]).toEqual([false, 'Hello.', []]);
    tab.dispatchEvent(new Event('focus'));
    expect(calls).toEqual([]);
  });

  it('a reply that waits because the login has ended is sent only under the login of the member who wrote it', async () => {
    await opened('conv_a');
    state.type('Hello.');
    state.reply();
    await take('POST', '/conv_a/reply').answer(nobody, 401);
    // A reply that waits does not ask who is signed in, because each such question would open the dialog again.
    jest.advanceTimersByTime(3_000);
    await settled();
    expect(calls).toEqual([]);
    // Another person signs in in another tab, and then in the dialog over the page.
    tab.dispatchEvent(new Event('focus'));
    await take('GET', '/auth/me').answer(login('usr_2'));
    expect(loads).toEqual(['/app']);
    const signedIn = session.signIn('eve@example.com', 'the password of Eve');
    await take('POST', '/auth/browser').answer(login('usr_2'));
    await signedIn;
    expect(loads).toEqual(['/app', '/app']);
    expect(session.user.value.userId).toBe('usr_1');
    jest.advanceTimersByTime(3_000);
    await settled();
    expect(calls).toEqual([]);

    tab.dispatchEvent(new Event('focus'));
    await take('GET', '/auth/me').answer(login('usr_1'));
    await take('GET', '/orgs/org_1').answer(sandbox);
    jest.advanceTimersByTime(3_000);
    await take('POST', '/conv_a/reply').answer({ message: {} }, 201);
    await take('GET', '/conv_a?').answer(found('conv_a'));
    expect(state.outgoing.value).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('a reply that waits is not sent after another person has signed in in another tab, even if this tab was never refused', async () => {
    await opened('conv_a');
    state.type('Hello.');
    state.reply();
    await take('POST', '/conv_a/reply').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    kept.set('user', 'usr_2');
    jest.advanceTimersByTime(3_000);
    await settled();
    expect(calls).toEqual([]);
    tab.dispatchEvent(new Event('focus'));
    await take('GET', '/auth/me').answer(login('usr_2'));
    expect(loads).toEqual(['/app']);

    kept.set('user', 'usr_1');
    jest.advanceTimersByTime(3_000);
    await take('POST', '/conv_a/reply').answer({ message: {} }, 201);
    await take('GET', '/conv_a?').answer(found('conv_a'));
    expect(state.outgoing.value).toEqual([]);
  });

  it('the page shows the error and asks again who is signed in until an answer says that nobody is', async () => {
    session.user.value = undefined;
    const known = session.findLogin();
    await take('GET', '/auth/me').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    expect([session.user.value, session.loginError.value]).toEqual([undefined, 'Try again.']);
    jest.advanceTimersByTime(3_000);
    await settled();
    await take('GET', '/auth/me').answer(nobody, 401);
    await known;
    expect(session.user.value).toBeNull();
  });
});

describe('an article that is being written', () => {
  it('the draft of an article is kept for its organization, mode and document while another article is open', () => {
    const written = { title: 'Cards', text: 'A card costs 5 EUR.', segments: '', basedOn: 'a1' };
    const open = unsavedArticle('doc_1');
    open.keep(written);
    expect(unsavedArticle('doc_2').get()).toBeUndefined();
    session.mode.value = 'live';
    expect(unsavedArticle('doc_1').get()).toBeUndefined();
    // What is typed in an editor that is still open stays in the mode in which the editor was opened.
    open.keep({ ...written, title: 'Card fees' });
    session.organizations.value = [{ org_id: 'org_2', name: 'Shop', role: 'member' }];
    session.mode.value = 'test';
    expect(unsavedArticle('doc_1').get()).toBeUndefined();
    session.organizations.value = [{ org_id: 'org_1', name: 'Bank', role: 'member' }];
    expect(unsavedArticle('doc_1').get()).toEqual({ ...written, title: 'Card fees' });
    open.drop();
    expect(unsavedArticle('doc_1').get()).toBeUndefined();
  });
});

describe('a notification', () => {
  it('a notification opens its conversation in the organization and mode that it is about', async () => {
    session.organizations.value = ['org_1', 'org_2'].map((org_id) => ({ org_id, name: org_id, role: 'member' }));
    const about = { org_id: 'org_2', mode: 'live', conv_id: 'conv_x' };
    const followed = notices.follow({ notif_id: 'ntf_1', title: '', body: '', read: false, ...about });
    await take('PUT', '/ntf_1/read').answer({ success: true, data: {} });
    expect(route.address.value.id).not.toBe('conv_x');
    await take('GET', '/orgs/org_2').answer({ success: true, data: { environment: 'sandbox' } });
    await followed;
    expect([session.orgId.value, session.mode.value, route.address.value]).toMatchObject([
      'org_2',
      'live',
      { screen: 'inbox', id: 'conv_x' },
    ]);
  });
});

describe('the open conversation', () => {
  it('a page in the background reads the open conversation only once the page is visible again', async () => {
    await connected();
    await opened('conv_a');
    page.hidden = true;
    frame('conversation', { conversation: entry('conv_a', { unread: 1, updated_at: '2026-01-02T00:00:00.000Z' }) });
    frame('welcome', { members: [], viewing: [] });
    await settled();
    expect(calls).toEqual([]);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    await take('GET', '/conv_a?').answer(found('conv_a'));
    frame('conversation', { conversation: entry('conv_a') });
    await take('GET', '/conv_a?').answer(found('conv_a'));
    expect(calls).toEqual([]);
  });

  it('older messages that were loaded stay in the list, unless more new messages arrived than one read returns', async () => {
    const readAgain = async (messages: object[], cursor: string) => {
      const again = state.readAgain();
      await take('GET', '/conv_a?').answer(found('conv_a', { messages, cursor }));
      await again;
    };
    await opened('conv_a', { messages: said(11, 60), cursor: 'before_11' });
    await readAgain(said(13, 62), 'before_13');
    expect([state.messages.value, state.older.value]).toEqual([said(11, 62), 'before_11']);
    // Messages 63 to 72 were not read, so the list begins after them, and “older” leads to them.
    await readAgain(said(73, 122), 'before_73');
    expect([state.messages.value, state.older.value]).toEqual([said(73, 122), 'before_73']);
  });

  it('older messages are shown once, even when the user requests them twice', async () => {
    await opened('conv_a', { messages: said(61, 110), cursor: 'before_61' });
    const both = Promise.all([state.readOlder(), state.readOlder()]);
    const earlier = found('conv_a', { messages: said(11, 60), cursor: 'before_11' });
    await take('GET', 'cursor=before_61').answer(earlier);
    await take('GET', 'cursor=before_61').answer(earlier);
    await both;
    expect([state.messages.value, state.older.value]).toEqual([said(11, 110), 'before_11']);
  });

  it('marking a conversation as unread does not close another conversation that was opened meanwhile', async () => {
    await opened('conv_a');
    const marked = state.markUnread();
    route.go({ screen: 'inbox', id: 'conv_b' });
    await opened('conv_b');
    await take('DELETE', '/conv_a/read').answer({ conversation: entry('conv_a') });
    await marked;
    expect(route.address.value.id).toBe('conv_b');
  });
});

describe('a conversation that was not found', () => {
  it('a conversation that was not found is shown when a later read finds it', async () => {
    const opening = state.open('conv_a');
    await take('GET', '/conv_a?').answer({ error: 'There is no such conversation.', code: 'NOT_FOUND' }, 404);
    await opening;
    expect(state.missing.value).toBe(true);
    const again = state.readAgain();
    await take('GET', '/conv_a?').answer(found('conv_a'));
    await again;
    expect(state.missing.value).toBe(false);
  });
});

describe('the list of the inbox', () => {
  it('a response for a mode or organization that is no longer selected adds nothing to the inbox', async () => {
    const test = inbox.readView();
    session.mode.value = 'live';
    inbox.clear();
    const current = inbox.readView();
    const reply = (...conversations: object[]) => ({ conversations, count: conversations.length, cursor: null });
    await take('GET', 'mode=live').answer(reply(entry('conv_a', { mode: 'live' })));
    await take('GET', 'mode=test').answer(reply(entry('conv_b'), entry('conv_c')));
    await Promise.all([test, current]);
    inbox.put(entry('conv_d', { mode: 'live', org_id: 'org_2' }));
    expect([listed(), inbox.total.value]).toEqual([['conv_a'], 1]);
    expect(calls).toEqual([]);
  });

  it('after the frame `reload`, a conversation that the server no longer lists disappears from the inbox', async () => {
    await connected();
    await opened('conv_a');
    inbox.put(entry('conv_b', { waiting_since: '2026-01-01T00:00:00.000Z' }));
    expect([listed().toSorted(), inbox.waiting.value]).toEqual([['conv_a', 'conv_b'], 1]);
    frame('reload');
    const none = { conversations: [], count: 0, cursor: null };
    await take('GET', 'sort=waiting').answer(none);
    await take('GET', '/org_1?').answer(none);
    await take('GET', '/conv_a?').answer(found('conv_a'));
    expect([listed(), inbox.waiting.value]).toEqual([['conv_a'], 0]);
    expect(calls).toEqual([]);
  });
});

describe('the team’s tags', () => {
  const [urgent, billing] = ['urgent', 'billing'].map((name) => ({ name, colour: 'grey' }));
  const reply = (...all: unknown[]) => ({ success: true, data: { tags: all } });
  const add = () => tags.changeTags((all: object[]) => [...all, billing]);

  it('a change of the team’s tags keeps the tags that others have saved since the page last read the list', async () => {
    const changed = add();
    await take('GET', '/tags').answer(reply(urgent));
    const saved = take('PUT', '/tags');
    expect(saved.sent).toEqual({ tags: [urgent, billing] });
    await saved.answer(reply(urgent, billing));
    await changed;
    expect(tags.teamTags.value).toEqual([urgent, billing]);
  });

  it('a change of the tags is not saved when the tags of the server cannot be read', async () => {
    const changed = expect(add()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await take('GET', '/tags').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    await changed;
    expect(calls).toEqual([]);
  });

  it('the tags of one organization are never shown or saved as those of another', async () => {
    const before = tags.readTags();
    const changed = add();
    const [first, second] = [take('GET', '/org_1/tags'), take('GET', '/org_1/tags')];
    await first.answer(reply(urgent));
    session.organizations.value = [{ org_id: 'org_2', name: 'Shop', role: 'owner' }];
    expect(tags.teamTags.value).toEqual([]);
    const current = tags.readTags();
    await take('GET', '/org_2/tags').answer(reply(billing));
    await second.answer(reply(urgent));
    await take('PUT', '/org_1/tags').answer(reply(urgent, billing));
    await Promise.all([before, changed, current]);
    expect(tags.teamTags.value).toEqual([billing]);
  });
});

describe('a read that is repeated', () => {
  it('a periodic read from the server does not start again while the previous read still runs', async () => {
    const ends: (() => void)[] = [];
    const tick = oneAtATime(() => new Promise<void>((resolve) => ends.push(resolve)));
    tick();
    tick();
    expect(ends).toHaveLength(1);
    ends[0]!();
    await settled();
    tick();
    expect(ends).toHaveLength(2);
  });
});

// `showNotices` makes the page read the notifications whenever the user changes. So this test follows those above.
describe('the list of notifications', () => {
  it('notifications that were made while the connection was gone are in the list when the connection is back', async () => {
    const [old, missed] = ['ntf_1', 'ntf_2'].map((notif_id) => ({ notif_id, org_id: 'org_1', title: '', read: false }));
    notices.showNotices();
    await take('GET', '/me/notifications').answer({ success: true, data: { notifications: [old] } });
    await connected();
    const welcome = () => frame('welcome', { members: [], viewing: [] });
    welcome();
    await take('GET', '/me/notifications').answer({ success: true, data: { notifications: [missed, old] } });
    expect(notices.notices.value).toEqual([missed, old]);
    // The list stays when it cannot be read again.
    welcome();
    await take('GET', '/me/notifications').answer({ error: 'Try again.', code: 'UNAVAILABLE' }, 503);
    expect(notices.notices.value).toEqual([missed, old]);
  });

  it('in a list that is read while a conversation is on screen, the notifications about it are read', async () => {
    const [here, other] = ['conv_a', 'conv_b'].map((conv_id) => ({ notif_id: conv_id, conv_id, read: false }));
    await opened('conv_a');
    await take('GET', '/me/notifications').answer({ success: true, data: { notifications: [here, other] } });
    expect(notices.notices.value).toEqual([{ ...here, read: true }, other]);
  });

  it('a notification that arrives while the list is read stays in the list', async () => {
    const [old, added] = ['ntf_1', 'ntf_2'].map((notif_id) => ({ notif_id, org_id: 'org_1', title: '', read: false }));
    const first = take('GET', '/me/notifications');
    await connected();
    frame('notification', { notification: added });
    await first.answer({ success: true, data: { notifications: [old] } });
    expect(notices.notices.value).toContainEqual(added);
    await take('GET', '/me/notifications').answer({ success: true, data: { notifications: [added, old] } });
    expect(notices.notices.value).toEqual([added, old]);
  });
});

// The minute also moves the timers of the socket, so this is the last test.
describe('the current time', () => {
  it('the time to which shown times are relative changes every minute, and when the page becomes visible', () => {
    const first = minute.value;
    jest.advanceTimersByTime(60_000);
    const second = minute.value;
    expect(second).not.toBe(first);
    page.dispatchEvent(new Event('visibilitychange'));
    expect(minute.value).not.toBe(second);
  });
});
