/**
 * One customer's open socket: what it holds, how it sends, and how it is refused. There may be thousands in a process, so it
 * has no timer of its own and keeps nothing that can be read again.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { SessionPrincipal } from './auth.ts';
import type { Whose } from './chat.ts';
import { maxFrameBytes } from './contract/chat.ts';
import type { Follower } from './tail.ts';
import type { Frame } from '../models/frame.ts';
import type { Problem } from '../models/rules/errors.ts';

/** What waits to be sent to a reader before it counts as too slow, in bytes; some hundred full answers. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** A reason may have 123 bytes; ours are codes. */
const closeCodes: Readonly<Record<number, number>> = { 500: 1011, 503: 1013 };

/** The close code of a refusal: 4000 and the HTTP status, or WebSocket's own for what is our fault. */
const closeCodeOf = ({ status }: Problem): number => closeCodes[status] ?? 4000 + status;

/** Restarting: another process, or this one in a moment, takes the connection. */
export const RESTART = 1012;
const MALFORMED = 4400;

export class ChatSocket extends WebSocket implements Follower {
  /** The last number this socket was given. */
  seq = 0;
  customer: SessionPrincipal | undefined;
  conversation: Whose | undefined;
  /** The connection underneath. */
  raw: Duplex | undefined;
  /** Frames that wait for the one that is being dealt with. */
  queue: string[] | undefined;
  /** What is being dealt with, so that frames of one socket are taken in their order. */
  work: Promise<void> | undefined;
  /** When it was last pinged, on the monotonic clock, and how many pings nothing has come since. */
  pingedAt = performance.now();
  missedPings = 0;
  /** Frames since `countedFrom` (monotonic). */
  frames = 0;
  countedFrom = 0;

  get convId(): string {
    return this.conversation?._id ?? '';
  }

  /** Sends a frame that is not in the log; it carries the last number that was. */
  tell(type: string, body: Record<string, unknown> = {}): void {
    this.write(JSON.stringify({ type, seq: this.seq, ...body }));
  }

  deliver({ type, seq, body }: Frame): void {
    this.write(JSON.stringify({ type, seq, ...body }));
  }

  /** Settles when the connection has taken what it was given, or is gone. */
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

  /** Says what is wrong and ends the connection. */
  refuse(problem: Problem): void {
    this.complain(problem);
    this.close(closeCodeOf(problem), problem.code);
  }

  /** Ends the connection of a client that does not speak the protocol. */
  refuseFrame(code: 'TOO_LARGE' | 'BINARY_FRAME' | 'MALFORMED_JSON' | 'UNKNOWN_TYPE', message: string): void {
    this.tell('error', { code, message });
    this.close(MALFORMED, code);
  }

  /** Says what is wrong with what was sent. */
  complain(problem: Problem, clientMessageId?: string): void {
    const retryAfter = Number(problem.headers['Retry-After']);
    this.tell('error', {
      code: problem.code,
      message: problem.message,
      ...(clientMessageId === undefined ? {} : { client_message_id: clientMessageId }),
      ...(retryAfter > 0 ? { retry_after: retryAfter } : {}),
    });
  }

  /** `ws` closes by itself what is too large or no UTF-8, before it is read: that is told and closed as our other refusals. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === WebSocket.OPEN && code === 1009) {
      this.refuseFrame('TOO_LARGE', `A frame may have ${maxFrameBytes} bytes.`);
    } else if (this.readyState === WebSocket.OPEN && code === 1007) {
      this.refuseFrame('MALFORMED_JSON', 'A frame is JSON in UTF-8.');
    } else {
      super.close(code, reason);
    }
  }

  private write(text: string): void {
    if (this.readyState !== WebSocket.OPEN) return;
    // A close would wait behind what is not read; the reader comes back and resumes.
    if (this.bufferedAmount > MAX_BUFFERED_BYTES) this.terminate();
    else this.send(text);
  }
}
