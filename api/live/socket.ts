/**
 * One open socket: its state, how it sends, and how it is refused. A process may have thousands of sockets. So a socket
 * has no timer of its own, and stores nothing that can be reloaded from the database.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { MadeFrame, StreamKind, StreamSocket } from './stream.ts';
import type { Follower } from './tail.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import type { Frame } from '../../models/live/frame.ts';
import { errorTable, type Problem } from '../../models/rules/base/errors.ts';

/** The largest frame a client may send, in bytes. */
export const maxFrameBytes = 64 * 1024;
/**
 * A client that has more bytes than this waiting to be sent is too slow, and is disconnected. This is about a hundred
 * full answers.
 */
const maxBufferedBytes = 1024 * 1024;
/** WebSocket's close codes for failures of this server, by HTTP status. */
const closeCodes: Readonly<Record<number, number>> = { 500: 1011, 503: 1013 };

/**
 * The close code of a refusal: 4000 plus the HTTP status, or WebSocket's standard code for a failure of this server.
 */
export const closeCodeOf = ({ status }: Pick<Problem, 'status'>): number => closeCodes[status] ?? 4000 + status;

/** WebSocket's code for a restart: the client reconnects to another process, or to this one a little later. */
export const restartCode = 1012;
const malformedCode = 4400;

/**
 * The close codes that this server sends, and the codes of connections that ended without one. The set bounds the
 * values of the metric label `code`.
 */
const codes: ReadonlySet<number> = new Set(
  Object.values(errorTable).map(closeCodeOf).concat(1000, 1001, 1005, 1006, restartCode, malformedCode),
);
/** Whether a close code is in `codes`; a client may send any other code. */
export const isKnownCode = (code: number): boolean => codes.has(code);

/** `C`: the data that the stream kind (chat, room or inbox) keeps with each socket. */
export class LiveSocket<C = unknown> extends WebSocket implements Follower, StreamSocket {
  /** The organization and the stream that the socket follows; empty until the socket is open. */
  orgId = '';
  stream = '';
  /** The sequence number of the last frame that was sent to the socket. */
  seq = 0;
  /** The stream kind's data about the client; set once the client was admitted. */
  client: C | undefined;
  /**
   * The code that this process closed the socket with. If the client does not respond in time, `ws` reports 1006
   * instead.
   */
  closedWith: number | undefined;
  kind: StreamKind<C> | undefined;
  /** Whether `came` of the socket's stream kind was called, so that `left` must be called when the socket closes. */
  came = false;
  /** The client's network; rate limits are counted per network. */
  network = '';
  /** The underlying connection. */
  raw: Duplex | undefined;
  /** Frames that wait while another one is handled. */
  queue: string[] | undefined;
  /**
   * Set while the socket is being opened or handles frames. Further frames wait in `queue`, so that they are handled in
   * order.
   */
  work: Promise<void> | undefined;
  /** `pingedAt`: the last ping, on the monotonic clock. `missedPings`: pings in a row without any response. */
  pingedAt = performance.now();
  missedPings = 0;
  /** The number of frames since `countedFrom` (monotonic clock). */
  frames = 0;
  countedFrom = performance.now();

  private get metrics(): SocketMetrics | undefined {
    return this.kind?.metrics;
  }

  /** Sends a frame that is not in the frame log. The frame carries the sequence number of the last logged frame. */
  tell(type: string, body: Record<string, unknown> = {}): void {
    this.write(type, JSON.stringify({ type, seq: this.seq, ...body }));
  }

  pass(made: readonly MadeFrame[]): void {
    this.raw?.cork();
    for (const { type, text } of made) this.write(type, text);
    this.raw?.uncork();
  }

  deliver(frame: Frame): void {
    const { type, seq, body } = frame;
    if (this.kind?.shows?.(this.client!, frame) === false) return;
    this.write(type, JSON.stringify({ type, seq, ...body }));
  }

  /** Resolves when the connection has accepted everything that was sent, or is gone. */
  async ready(): Promise<void> {
    const { raw } = this;
    if (!raw?.writableNeedDrain || raw.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        raw.off('drain', done);
        raw.off('close', done);
        resolve();
      };
      raw.on('drain', done);
      raw.on('close', done);
    });
  }

  /**
   * Sends the error and closes the connection. The close reason is the error's code, because it may have at most 123
   * bytes.
   */
  refuse(problem: Problem): void {
    this.complain(problem);
    this.close(closeCodeOf(problem), problem.code);
  }

  /** Closes the connection of a client that violates the protocol. */
  refuseFrame(code: 'TOO_LARGE' | 'BINARY_FRAME' | 'MALFORMED_JSON' | 'UNKNOWN_TYPE', message: string): void {
    this.metrics?.received.inc({ type: 'invalid' });
    this.tell('error', { code, message });
    this.close(malformedCode, code);
  }

  /**
   * Sends an error; the connection stays open. `about`: the type of the client's frame that the error is about, and the
   * client's id of the message in this frame.
   */
  complain(problem: Problem, about: { refused?: string; client_message_id?: string } = {}): void {
    const retryAfter = Number(problem.headers['Retry-After']);
    this.tell('error', {
      code: problem.code,
      message: problem.message,
      ...about,
      ...(retryAfter > 0 ? { retry_after: retryAfter } : {}),
      ...problem.frame,
    });
  }

  /**
   * `ws` itself closes the socket when a frame is too large or not UTF-8. Such a frame is refused here like any
   * malformed frame.
   */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === WebSocket.OPEN && code === 1009) {
      this.refuseFrame('TOO_LARGE', `A frame may have ${maxFrameBytes} bytes.`);
    } else if (this.readyState === WebSocket.OPEN && code === 1007) {
      this.refuseFrame('MALFORMED_JSON', 'A frame is JSON in UTF-8.');
    } else {
      if (this.readyState === WebSocket.OPEN) this.closedWith = code;
      super.close(code, reason);
    }
  }

  private write(type: string, text: string | Buffer): void {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.bufferedAmount > maxBufferedBytes) {
      // A close frame would wait behind the unread data, so the connection is cut; the client reconnects and resumes.
      this.terminate();
      return;
    }
    this.metrics?.sent.inc({ type });
    this.send(text, { binary: false });
  }
}
