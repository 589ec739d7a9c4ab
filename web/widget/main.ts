/**
 * The widget: connects the view, the conversation, the store and the socket. A page has one widget. The widget connects
 * only when the customer opens it or has written before, so that visitors who do not use the chat need no connection.
 */
import { openLink, Unreachable, type Link, type LinkState } from '../live/connection.ts';
import type { ServerFrame } from '../../api/chat/contract/chat.ts';
import { answerAsk, fail, failAsk, isRefusal, lastHeard, noConversation, receive, say } from './conversation.ts';
import type { Conversation } from './conversation.ts';
import type { ContactState } from './contact.ts';
import { readLook, withoutHours, type Look } from './look.ts';
import { readOptions, readToken, type Identity } from './options.ts';
import { createStore, randomId, type Store } from '../live/store.ts';
import { coversScreen } from './styles.ts';
import { createView } from './view.ts';

export type Widget = {
  open(): void;
  close(): void;
  /** Removes the widget from the page. Stored data is kept. */
  destroy(): void;
  /** Sets the customer; null switches back to an anonymous visitor. */
  identify(identity: Identity | null): void;
  /** Passes context from the page that helps to answer. It may narrow what is searched but never widens it. */
  update(context: Record<string, unknown>): void;
  /**
   * Answers the event `supportwidget:stepup` with a `step_up_token`. The token must be for the current session, or for
   * the session that `identify` has just set.
   */
  stepUp(pendingId: string, token: string): void;
};

/** How often the server is told that the customer types, in ms. */
const typingEveryMs = 3_000;
/** The frames besides `message` that the widget sends again on a new socket until the server has acknowledged them. */
const repeated: readonly unknown[] = ['confirm_response', 'step_up_response', 'input_response', 'end', 'contact'];

/** An unacknowledged message as it is stored: its conversation and its text. */
type Unsent = { convId: string | undefined; body: string; at: number };

/**
 * Puts the widget on the page. `base`: the server's URL with a trailing `/`. `settings`: the script tag's data
 * attributes. @throws Error when the page gives neither a key nor a session token
 */
export function start(
  base: string,
  settings: Readonly<Record<string, string | undefined>>,
  destroyed: () => void,
): Widget {
  const options = readOptions(settings, { languages: navigator.languages });
  if (options.key === undefined && options.identity.sessionToken === undefined) {
    throw new Error('The support widget needs data-key or data-session-token on its script tag.');
  }
  const store = createStore(() => window.localStorage, 'support-widget:');
  const visit = createStore(() => window.sessionStorage, 'support-widget:');

  let identity = options.identity;
  let scope = scopeOf(options.key, identity);
  let conversation = noConversation;
  let linkState: LinkState = 'connecting';
  let link: Link | undefined;
  let context: Record<string, unknown> | undefined;
  let rated = false;
  /**
   * The frame that ends the conversation, and the conversation's status when the customer ended it. Kept until the
   * server reports the result.
   */
  let ending: { frame: { type: 'end'; body?: string }; status: Conversation['status'] } | undefined;
  /** The cursor of requested earlier messages, until they arrive. */
  let wanted: string | undefined;
  /** What the current socket has already sent: ids of messages, and ids of questions whose replies were sent. */
  let given = new Set<string>();
  /**
   * The customer's proof of identity (`reply`) that the page gave before the agent's request for it (`pendingId`)
   * arrived on this page.
   */
  let proof: { pendingId: string; reply: Record<string, unknown> } | undefined;
  /** The id of this page's visitor, once connected. */
  let visitorId: string | undefined;
  /** The look of the widget; undefined until the server has sent it, now or at an earlier visit. */
  let look: Look | undefined;
  /** The JSON of the look that the widget shows, as the server sent it. */
  let dressed: string | undefined;
  /** Whether the server is being asked for the look. */
  let finding = false;
  /** The timer that asks for the look again when the team is back. */
  let backDue: ReturnType<typeof setTimeout> | undefined;
  let removed = false;
  /** When the server was last told that the customer types, in ms. */
  let typedAt = 0;
  /** The e-mail address that the customer has given, until the server has kept it. */
  let contact: { email: string; state: 'sent' | 'refused' } | undefined;
  provideVisitorId(store, options.key ?? '');

  const view = createView(options, {
    opened() {
      visit.set('open', 'yes');
      connect();
      show();
      void findLook();
    },
    closed() {
      visit.set('open', undefined);
      show();
    },
    said(body) {
      const clientId = randomId();
      store.set(
        unsentName(scope, clientId),
        JSON.stringify({ convId: conversation.convId, body, at: Date.now() } satisfies Unsent),
      );
      store.set(`${scope}:wrote`, 'yes');
      conversation = say(conversation, clientId, body);
      rated = false;
      ending = undefined;
      sendWaiting();
      show();
    },
    ended(stars) {
      const frame = { type: 'end' as const, ...(stars === undefined ? {} : { body: String(stars) }) };
      ending = { frame, status: conversation.status };
      rated = stars !== undefined;
      sendWaiting();
      show();
    },
    typed() {
      // Typing is reported only while the conversation is with the team, not with the agent.
      const { status } = conversation;
      if ((status !== 'escalated' && status !== 'pending') || Date.now() - typedAt < typingEveryMs) return;
      typedAt = Date.now();
      link?.send({ type: 'typing' });
    },
    earlier() {
      wanted = conversation.earlier;
      askEarlier();
    },
    decided({ pendingId }, approved) {
      answer(pendingId, { type: 'confirm_response', pending_id: pendingId, approved });
    },
    replied({ pendingId, question }, action, content) {
      const reply = { type: 'input_response', pending_id: pendingId, question_id: question!.id, action };
      answer(pendingId, content === undefined ? reply : { ...reply, content });
    },
    prove({ pendingId, title }) {
      const event = new CustomEvent('supportwidget:stepup', { cancelable: true, detail: { pendingId, title } });
      // A page that handles the event calls preventDefault. Otherwise the customer is told that a proof is impossible.
      if (!window.dispatchEvent(event)) return;
      conversation = failAsk(conversation, pendingId);
      show();
    },
    contacted(email) {
      if (email === undefined) store.set(`${scope}:no-email`, 'yes');
      contact = email === undefined ? undefined : { email, state: 'sent' };
      sendContact();
      show();
    },
  });

  const isAsked = (pendingId: string): boolean => conversation.entries.some(({ ask }) => ask?.pendingId === pendingId);

  function answer(pendingId: string, reply: Record<string, unknown>): void {
    given.delete(pendingId);
    conversation = answerAsk(conversation, pendingId, reply);
    sendWaiting();
    show();
  }

  const seen = (): boolean => view.isOpen && document.visibilityState === 'visible';

  function show(): void {
    const readUpTo = store.get(`${scope}:read`) ?? '';
    const heard = lastHeard(conversation);
    if (seen() && heard > readUpTo) store.set(`${scope}:read`, heard);
    // A customer who has written before sees the launcher outside the team's hours, too.
    const offered = look !== undefined && (!look.hidden || store.get(`${scope}:wrote`) !== undefined);
    view.show({ conversation, link: linkState, readUpTo, rated, contact: contactState(), offered });
  }

  function contactState(): ContactState {
    const { reachable, status } = conversation;
    if (contact?.state === 'sent' && reachable) return 'kept';
    if (contact) return contact.state;
    const due = look?.askEmail === 'first' || (look?.askEmail === 'on_escalation' && status === 'escalated');
    return due && reachable === false && store.get(`${scope}:no-email`) === undefined ? 'asked' : 'no';
  }

  function sendContact(): void {
    if (contact?.state === 'sent') link?.send({ type: 'contact', email: contact.email });
  }

  /** Applies a look: first the one stored at an earlier visit, then the one that the server returns. */
  function dress(given: unknown): void {
    look = readLook(given, options.locale, base);
    view.dress(look);
    show();
  }

  /**
   * Asks the server for the look. It is asked again when the customer looks at the widget and when the team is back,
   * because a page may be open for days and its hours would be out of date.
   */
  async function findLook(): Promise<void> {
    if (finding) return;
    finding = true;
    const place = options.key ?? readToken(options.identity.sessionToken ?? '')?.org ?? '';
    const kept = store.get(`${place}:look`);
    if (look === undefined && kept !== undefined) dress(withoutHours(parsed(kept)));
    const fresh = await fetchPlace(base, place).then(JSON.stringify, () => undefined);
    finding = false;
    if (removed) return;
    // If the request fails, the widget keeps its look, or gets the default look.
    if (fresh === undefined && look === undefined) dress({});
    if (fresh !== undefined && fresh !== dressed) {
      dressed = fresh;
      dress(parsed(fresh));
      store.set(`${place}:look`, fresh);
    }
    clearTimeout(backDue);
    if (look?.back) backDue = setTimeout(() => void findLook(), pauseUntil(look.back));
  }

  function connect(): void {
    if (link) return;
    const ownScope = scope;
    /** Runs `act` only for the current identity; frames for a former identity are ignored. */
    const current = (act: () => void): void => {
      if (ownScope === scope) act();
    };
    link = openLink({
      address: () => findAddress(base, options.key, whereTo()),
      state: (state) =>
        current(() => {
          linkState = state;
          if (state === 'ended') window.dispatchEvent(new Event('supportwidget:ended'));
          if (state !== 'open') given = new Set();
          show();
        }),
      frame: (frame) => current(() => hear(frame as ServerFrame)),
      unreadable: () =>
        current(() => {
          conversation = fail(conversation, [...given]);
          forgetSent();
        }),
      missing: () => {
        if (ownScope !== scope || whereTo()['conv_id'] === undefined) return false;
        // The conversation and its messages were deleted; unsent messages go into a new conversation.
        const unsent = unsentIn(store, scope);
        for (const { clientId, body, at } of unsent) {
          store.set(unsentName(scope, clientId), JSON.stringify({ convId: undefined, body, at } satisfies Unsent));
        }
        conversation = { ...noConversation, entries: conversation.entries.filter(({ id }) => id === undefined) };
        return true;
      },
    });
  }

  /**
   * The query parameters of the socket's URL: who the customer is, which conversation is open, and where to resume it.
   */
  function whereTo(): Record<string, string | undefined> {
    const { sessionToken, email, sig } = identity;
    const place = {
      conv_id: conversation.convId ?? unsentIn(store, scope).find(({ convId }) => convId)?.convId,
      resume_from: conversation.seq === undefined ? undefined : String(conversation.seq),
    };
    if (sessionToken !== undefined) return { sessionToken, ...place };
    // The stored id is read only now: when several tabs open at the same moment, the last stored id wins, and all tabs
    // use that id.
    visitorId ??= provideVisitorId(store, options.key ?? '');
    return { pk: options.key, visitorId, email, sig, productType: options.product, ...place };
  }

  function hear(frame: ServerFrame): void {
    conversation = receive(conversation, frame);
    if (proof && isAsked(proof.pendingId)) {
      const { pendingId, reply } = proof;
      proof = undefined;
      answer(pendingId, reply);
    }
    if (wanted !== conversation.earlier) wanted = undefined;
    if (frame.type === 'welcome') {
      // The status has changed since the customer ended the conversation, so a member has acted. The end is not sent,
      // because the customer has not seen that.
      if (ending && ![ending.status, 'resolved'].includes(conversation.status)) ending = undefined;
      // Sends the stored messages that an earlier page could not send. The server deduplicates messages.
      for (const { clientId, convId, body } of unsentIn(store, scope)) {
        const known = conversation.entries.some((entry) => entry.clientId === clientId);
        // A message is only resent in its own conversation.
        const here = convId === undefined || convId === conversation.convId;
        if (here && !known) conversation = say(conversation, clientId, body);
      }
      if (context) link?.send({ type: 'context_update', context });
      given = new Set();
      sendContact();
      sendWaiting();
      askEarlier();
    }
    if (frame.type === 'error') hearError(frame);
    // A `status` frame acknowledges the end. The server never acknowledges a rating of an already resolved
    // conversation, so any later `status` or reply of a member clears `ending` too.
    if (frame.type === 'status' || frame.type === 'agent_reply') ending = undefined;
    forgetSent();
    show();
  }

  function hearError(frame: Extract<ServerFrame, { type: 'error' }>): void {
    const { code, refused, client_message_id: named, retry_after: retryAfter } = frame;
    if (contact?.state === 'sent' && refused === 'contact' && code === 'VALIDATION')
      contact = { ...contact, state: 'refused' };
    // Sending the failed message or reply again may succeed, so the widget reconnects. If the error has `retry_after`,
    // the server itself closes the connection.
    const failed =
      named === undefined ? ['INTERNAL', 'UNAVAILABLE'].includes(code) && repeated.includes(refused) : given.has(named);
    if (failed && !isRefusal(frame) && retryAfter === undefined) link?.again();
  }

  function sendWaiting(): void {
    if (linkState !== 'open') return;
    for (const { clientId, body, state } of conversation.entries) {
      if (state !== 'waiting' || clientId === undefined || given.has(clientId)) continue;
      if (link?.send({ type: 'message', body, client_message_id: clientId })) given.add(clientId);
    }
    for (const { ask } of conversation.entries) {
      if (ask?.state !== 'sent' || !ask.reply || given.has(ask.pendingId)) continue;
      if (link?.send(ask.reply)) given.add(ask.pendingId);
    }
    // The frame that ends the conversation is sent after all messages that were written before it.
    if (ending) link?.send(ending.frame);
  }

  function askEarlier(): void {
    if (wanted !== undefined && linkState === 'open') link?.send({ type: 'earlier', cursor: wanted });
  }

  /** Deletes stored messages that the server has accepted or refused. */
  function forgetSent(): void {
    for (const { clientId, state } of conversation.entries) {
      if (clientId !== undefined && state !== 'waiting') store.set(unsentName(scope, clientId), undefined);
    }
  }

  function identify(next: Identity | null): void {
    const former = scope;
    link?.close();
    link = undefined;
    identity = next ?? {};
    scope = scopeOf(options.key, identity);
    linkState = 'connecting';
    given = new Set();
    // The same customer with a new session only reconnects. For another customer, the former customer's data is
    // dropped.
    if (scope !== former) {
      conversation = noConversation;
      context = undefined;
      rated = false;
      ending = undefined;
      contact = undefined;
      wanted = undefined;
      view.clear();
    }
    if (view.isOpen || store.get(`${scope}:wrote`)) connect();
    show();
  }

  const looked = (): void => show();
  const turned = (): void => {
    show();
    if (document.visibilityState === 'visible') void findLook();
  };
  document.addEventListener('visibilitychange', turned);
  window.addEventListener('online', looked);
  window.addEventListener('offline', looked);
  // The event `storage` comes when another tab has read or written a message.
  window.addEventListener('storage', looked);

  if (visit.get('open') && !window.matchMedia(coversScreen).matches) view.open(false);
  else if (store.get(`${scope}:wrote`)) connect();
  show();
  void findLook();

  return {
    open: () => view.open(true),
    close: () => view.close(),
    destroy() {
      removed = true;
      clearTimeout(backDue);
      link?.close();
      document.removeEventListener('visibilitychange', turned);
      window.removeEventListener('online', looked);
      window.removeEventListener('offline', looked);
      window.removeEventListener('storage', looked);
      view.remove();
      destroyed();
    },
    identify,
    stepUp(pendingId, token) {
      const reply = { type: 'step_up_response', pending_id: pendingId, step_up_token: token };
      if (isAsked(pendingId)) answer(pendingId, reply);
      else proof = { pendingId, reply };
    },
    update(next) {
      context = next;
      if (linkState === 'open') link?.send({ type: 'context_update', context });
    },
  };
}

/** The scope that separates stored data of different customers in one browser. */
function scopeOf(key: string | undefined, { sessionToken, email, sig }: Identity): string {
  if (sessionToken !== undefined) {
    const claims = readToken(sessionToken);
    return `session:${claims?.org ?? ''}:${claims?.sub ?? ''}`;
  }
  return email !== undefined && sig !== undefined ? `${key}:email:${email.toLowerCase()}` : `${key}:visitor`;
}

const unsentName = (scope: string, clientId: string): string => `${scope}:unsent:${clientId}`;

function unsentIn(store: Store, scope: string): (Unsent & { clientId: string })[] {
  const prefix = unsentName(scope, '');
  const found = store.names(prefix).flatMap((name) => {
    try {
      return [{ ...(JSON.parse(store.get(name) ?? '') as Unsent), clientId: name.slice(prefix.length) }];
    } catch {
      return [];
    }
  });
  return found.sort((one, other) => one.at - other.at);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * The visitor's id, which is created at the first call. It is random, because anyone who knows it can act as this
 * visitor.
 */
function provideVisitorId(store: Store, key: string): string {
  const name = `${key}:visitor-id`;
  const standing = store.get(name);
  if (standing !== undefined) return standing;
  store.set(name, randomId());
  return store.get(name)!;
}

/** The socket's URL. A session token contains the organization; for a publishable key the server is asked. */
async function findAddress(
  base: string,
  key: string | undefined,
  query: Record<string, string | undefined>,
): Promise<string> {
  const token = query['sessionToken'];
  const orgId = token === undefined ? (await fetchPlace(base, key ?? '')).org_id : readToken(token)?.org;
  if (orgId === undefined) throw new Unreachable();
  const url = new URL(`v1/support/chat/ws/${encodeURIComponent(orgId)}`, base);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/**
 * The shortest and longest pause before the widget asks for the look again, in ms. Browsers keep a reply for a minute,
 * and their timers cannot wait longer than `last`.
 */
const lookAgainMs = { first: 60_000, last: 2 ** 31 - 1 } as const;

const pauseUntil = (back: Date): number =>
  Math.min(Math.max(back.getTime() - Date.now(), lookAgainMs.first), lookAgainMs.last);

/** The time limit of the request for the organization, in ms. */
const placeWithinMs = 10_000;

/** Reads an organization's id and its widget's look. `place`: a publishable key, or the organization's id. */
async function fetchPlace(base: string, place: string): Promise<{ org_id: string }> {
  const reply = await fetch(`${base}widget/organizations/${encodeURIComponent(place)}`, {
    credentials: 'omit',
    signal: AbortSignal.timeout(placeWithinMs),
  });
  if (reply.status === 404) throw new Unreachable();
  if (!reply.ok) throw new Error(`The server answered ${reply.status}.`);
  return (await reply.json()) as { org_id: string };
}
