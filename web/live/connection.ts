/**
 * A WebSocket that reconnects when the connection is lost: after growing pauses, but at once when the browser reports
 * that it is online again. All frames are passed on to the page. Only `welcome` and an `error` with `retry_after` also
 * affect the connection.
 */

/** A frame as received from the server. Each page knows the exact types of its frames. */
type Frame = { type: string; seq: number } & Record<string, unknown>;

/**
 * `connecting`: the first attempt. `lost`: reconnecting. `slow`: the server asked to wait. `ended`: the session is
 * over. `refused`: this page may not connect. After `ended` or `refused`, the link does not reconnect.
 */
export type LinkState = 'connecting' | 'open' | 'lost' | 'slow' | 'ended' | 'refused';

/** Thrown by `address` when there is no address and never will be. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export type LinkDeps = {
  /** The URL to connect to, with the position to resume from. @throws Unreachable when there will never be a URL */
  address(): Promise<string>;
  frame(frame: Frame): void;
  state(state: LinkState): void;
  /** Called when the server could not read a frame (close code 4400). */
  unreadable(): void;
  /**
   * Called when the conversation no longer exists (close code 4404). Returns whether to connect again, without that
   * conversation.
   */
  missing(): boolean;
};

const closeCodes = { unreadable: 4400, ended: 4401, refused: 4403, missing: 4404, tooFast: 4429 } as const;
/**
 * Exponential backoff: the pause doubles from `first` to `last`. A random factor between 0.5 and 1 (jitter) prevents
 * clients from all reconnecting at once.
 */
const pauseMs = { first: 500, last: 30_000 } as const;
/** The pause after close code 4429, in ms, unless the server names a time. */
const slowMs = 60_000;
/** The interval of pings, in ms. A ping without a timely reply reveals a silently dropped connection. */
const pingEveryMs = 25_000;
const pongWithinMs = 10_000;
/** After a socket was open for this long, in ms, the next pause is the shortest again. */
const goodAfterMs = 5_000;

export function openLink(deps: LinkDeps) {
  let socket: WebSocket | undefined;
  let attempts = 0;
  let wasOpen = false;
  let over = false;
  let waitMs = slowMs;
  let nextTry: ReturnType<typeof setTimeout> | undefined;
  let nextPing: ReturnType<typeof setTimeout> | undefined;
  let pongDue: ReturnType<typeof setTimeout> | undefined;

  const stopClocks = (): void => [nextTry, nextPing, pongDue].forEach((clock) => clearTimeout(clock));

  /** Opens a socket unless one is there. Several attempts may wait for an address at the same time. */
  async function attempt(): Promise<void> {
    if (over || socket) return;
    stopClocks();
    let address: string;
    try {
      address = await deps.address();
    } catch (error) {
      // If another attempt has opened a socket meanwhile, this failure does not affect that socket.
      if (over || socket) return;
      if (error instanceof Unreachable) return end('refused');
      return later('lost');
    }
    if (over || socket) return;
    try {
      listen(new WebSocket(address));
    } catch {
      // The page's content security policy forbids this URL.
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
      // The connection counts as open only after `welcome`, with which the server confirms who the user is.
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
      // If the server cannot read the URL, retrying the same URL does not help.
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

  /** Abandons a socket without waiting for its close event, which may take minutes. */
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

  /** Sends a frame. Returns whether the socket was open. */
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

  /** Closes the connection for good; no reconnection follows. */
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
  return {
    send,
    close,
    /** Drops this socket, because it is unusable, and reconnects after a pause. */
    again: () => socket && drop(socket),
  };
}
export type Link = ReturnType<typeof openLink>;

function parse(data: unknown): Frame | undefined {
  try {
    const frame = JSON.parse(String(data)) as Partial<Frame> | null;
    return typeof frame?.type === 'string' && typeof frame.seq === 'number' ? (frame as Frame) : undefined;
  } catch {
    return undefined;
  }
}
