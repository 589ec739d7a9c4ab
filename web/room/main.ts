/**
 * The page of an interview room: connects the view, the state, unsent messages and the socket. The token in the page's
 * URL is the only credential; it is sent only to the socket of the same server.
 */
import { openLink, type Link, type LinkState } from '../live/connection.ts';
import type { RoomServerFrame } from '../../api/interviews/contract/rooms.ts';
import { createStore, randomId } from '../live/store.ts';
import { emptyRoom, receive, say } from './state.ts';
import { createView } from './view.ts';

const token = location.pathname.split('/').at(-1) ?? '';
/** Unsent messages survive a reload of this tab; no other data is stored. */
const store = createStore(() => window.sessionStorage, `interview-room:${token.slice(0, 8)}:`);
const unsent = 'unsent:';

let room = emptyRoom;
let linkState: LinkState = 'connecting';
let given = new Set<string>();
let consenting: boolean | undefined;
let ending = false;

const view = createView(document.querySelector('main')!, {
  consented(accepted) {
    consenting = accepted;
    sendWaiting();
    show();
  },
  said(body) {
    const clientId = randomId();
    const role = room.welcome?.role ?? 'candidate';
    const asked = room.welcome?.mode === 'solo' ? room.question?.question_id : undefined;
    store.set(unsent + clientId, JSON.stringify({ body, role, asked }));
    room = say(room, clientId, role, body);
    sendWaiting();
    show();
  },
  ended() {
    ending = true;
    sendWaiting();
    show();
  },
});

const link: Link = openLink({
  async address() {
    const url = new URL(`/v1/rooms/ws/${encodeURIComponent(token)}`, location.href);
    url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
    if (room.seq !== undefined) url.searchParams.set('resume_from', String(room.seq));
    return url.href;
  },
  state(state) {
    linkState = state;
    if (state !== 'open') given = new Set();
    show();
  },
  frame(received) {
    const frame = received as RoomServerFrame;
    room = receive(room, frame);
    if (frame.type === 'welcome') {
      takeUnsent();
      given = new Set();
      sendWaiting();
    }
    if (frame.type === 'joined' || frame.type === 'ended') consenting = undefined;
    if (frame.type === 'error' && passes(frame)) link.again();
    else if (frame.type === 'error' && frame.refused === 'end') ending = false;
    for (const { clientId, state } of room.entries)
      if (clientId !== undefined && state !== 'waiting') store.set(unsent + clientId, undefined);
    show();
    if (frame.type === 'ended') link.close();
  },
  unreadable: () => undefined,
  missing: () => false,
});

/**
 * Whether the page should open a new socket and send again what the server refused: a message, the consent, or the
 * request to end the interview. False if the error has `retry_after`, because then the server closes the connection.
 */
function passes(error: Extract<RoomServerFrame, { type: 'error' }>): boolean {
  const { code, refused, client_message_id: named, retry_after: retryAfter } = error;
  const waits = named === undefined ? refused === 'consent' || refused === 'end' : given.has(named);
  return waits && ['INTERNAL', 'UNAVAILABLE'].includes(code) && retryAfter === undefined;
}

/** Takes over messages that the page could not send before a reload. The server deduplicates messages. */
function takeUnsent(): void {
  for (const name of store.names(unsent)) {
    const clientId = name.slice(unsent.length);
    const { body, role } = JSON.parse(store.get(name)!) as { body: string; role: 'candidate' | 'interviewer' };
    if (!room.entries.some((entry) => entry.clientId === clientId)) room = say(room, clientId, role, body);
  }
}

function sendWaiting(): void {
  if (linkState !== 'open') return;
  if (consenting !== undefined) link.send({ type: 'consent', accepted: consenting });
  for (const { clientId, body, state } of room.entries) {
    if (state !== 'waiting' || clientId === undefined || given.has(clientId)) continue;
    const kept = store.get(unsent + clientId);
    const asked = kept === undefined ? undefined : (JSON.parse(kept) as { asked?: string }).asked;
    const frame = { type: 'message', body, client_message_id: clientId };
    if (link.send(asked === undefined ? frame : { ...frame, question_id: asked })) given.add(clientId);
  }
  if (ending) link.send({ type: 'end' });
}

function show(): void {
  view.show({ room, link: linkState, busy: consenting !== undefined });
}

window.addEventListener('online', show);
window.addEventListener('offline', show);
show();
