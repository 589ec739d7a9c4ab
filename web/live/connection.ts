/**
 * The socket, and reconnecting when it is lost: with growing pauses, but at once when the browser says that it is
 * online again. It passes frames on without interpreting them, except those that show that the server is still there.
 */
import type { Frame } from './frame.ts';

/**
 * `connecting`: the first attempt. `lost`: trying again. `slow`: the server asked to wait. `ended`: the session is
 * over. `refused`: this page may not chat. The last two stay until the page connects again.
 */
export type LinkState = 'connecting' | 'open' | 'lost' | 'slow' | 'ended' | 'refused';

/** There is no address, and there never will be; thrown by `address`. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export type LinkDeps = {
  /**
   * The address to connect to, with the position to resume from. @throws Unreachable when there will never be an
   * address.
   */
  address(): Promise<string>;
  frame(frame: Frame): void;
  state(state: LinkState): void;
  /** The server could not read a frame (close code 4400). */
  unreadable(): void;
  /** The conversation no longer exists (close code 4404). Returns whether there is another way to connect. */
  missing(): boolean;
};

export type Link = {
  /** Returns whether the frame was given to an open socket. */
  send(frame: Record<string, unknown>): boolean;
  /** Connects again after a pause, because this socket cannot be used. */
  again(): void;
  /** Closes permanently. */
  close(): void;
};

const closeCodes = { unreadable: 4400, ended: 4401, refused: 4403, missing: 4404, tooFast: 4429 } as const;
/**
 * The pause doubles from the first to the last; each actual pause is a random part of it, so that clients do not all
 * reconnect at once.
 */
const pauseMs = { first: 500, last: 30_000 } as const;
/** How long to wait after close code 4429, unless the server names a time. */
const slowMs = 60_000;
/** Networks drop connections silently; a ping without a timely answer reveals that. */
const pingEveryMs = 25_000;
const pongWithinMs = 10_000;
/** After a socket that was open this long, the next pause is the shortest again. */
const goodAfterMs = 5_000;

export function openLink(deps: LinkDeps): Link {
  let socket: WebSocket | undefined;
  let attempts = 0;
  let wasOpen = false;
  let over = false;
  let waitMs = slowMs;
  let nextTry: ReturnType<typeof setTimeout> | undefined;
  let nextPing: ReturnType<typeof setTimeout> | undefined;
  let pongDue: ReturnType<typeof setTimeout> | undefined;

  const stopClocks = (): void => [nextTry, nextPing, pongDue].forEach((clock) => clearTimeout(clock));

  async function attempt(): Promise<void> {
    stopClocks();
    let address: string;
    try {
      address = await deps.address();
    } catch (error) {
      if (over) return;
      if (error instanceof Unreachable) return end('refused');
      return later('lost');
    }
    if (over || socket) return;
    try {
      listen(new WebSocket(address));
    } catch {
      // The page's policy does not allow this address.
      end('refused');
    }
  }

  function listen(opened: WebSocket): void {
    socket = opened;
    let openedAt = 0;
    let welcome = false;
    opened.addEventListener('open', () => {
      openedAt = performance.now();
      wasOpen = true;
      ping(opened);
    });
    opened.addEventListener('message', ({ data }) => {
      clearTimeout(pongDue);
      const frame = parse(data);
      if (frame?.type === 'error' && typeof frame['retry_after'] === 'number') waitMs = frame['retry_after'] * 1000;
      if (!frame || socket !== opened) return;
      // Only now does the server know who the customer is.
      if (frame.type === 'welcome') {
        welcome = true;
        deps.state('open');
      }
      deps.frame(frame);
    });
    opened.addEventListener('close', ({ code }) => {
      if (socket !== opened) return;
      socket = undefined;
      if (openedAt > 0 && performance.now() - openedAt > goodAfterMs) attempts = 0;
      if (code === closeCodes.ended) return end('ended');
      if (code === closeCodes.refused) return end('refused');
      // An address that the server cannot read will not become valid.
      if (code === closeCodes.unreadable && !welcome) return end('refused');
      if (code === closeCodes.unreadable) deps.unreadable();
      if (code === closeCodes.missing && !deps.missing()) return end('refused');
      later(code === closeCodes.tooFast ? 'slow' : 'lost');
    });
  }

  function ping(opened: WebSocket): void {
    nextPing = setTimeout(() => {
      if (socket !== opened) return;
      send({ type: 'ping' });
      pongDue = setTimeout(() => drop(opened), pongWithinMs);
      ping(opened);
    }, pingEveryMs);
  }

  /** Drops a socket without waiting for its close, which it may take minutes to notice. */
  function drop(opened: WebSocket): void {
    if (socket !== opened) return;
    socket = undefined;
    opened.close();
    later('lost');
  }

  function later(state: 'lost' | 'slow'): void {
    stopClocks();
    if (over) return;
    deps.state(state === 'lost' && !wasOpen && attempts === 0 ? 'connecting' : state);
    const pause = Math.min(pauseMs.last, pauseMs.first * 2 ** attempts);
    attempts += 1;
    const ms = state === 'slow' ? waitMs : pause * (0.5 + Math.random() / 2);
    nextTry = setTimeout(() => void attempt(), ms);
  }

  function end(state: 'ended' | 'refused'): void {
    close();
    deps.state(state);
  }

  function send(frame: Record<string, unknown>): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(frame));
    return true;
  }

  const back = (): void => {
    if (over || socket) return;
    attempts = 0;
    void attempt();
  };
  const gone = (): void => {
    if (socket) drop(socket);
  };
  window.addEventListener('online', back);
  window.addEventListener('offline', gone);

  function close(): void {
    over = true;
    stopClocks();
    window.removeEventListener('online', back);
    window.removeEventListener('offline', gone);
    const last = socket;
    socket = undefined;
    last?.close(1000);
  }

  deps.state('connecting');
  void attempt();
  return { send, close, again: () => socket && drop(socket) };
}

function parse(data: unknown): Frame | undefined {
  try {
    const frame = JSON.parse(String(data)) as Partial<Frame> | null;
    return typeof frame?.type === 'string' && typeof frame.seq === 'number' ? (frame as Frame) : undefined;
  } catch {
    return undefined;
  }
}
