/**
 * One customer's open socket: what it holds, how it sends, and how it is refused. There may be thousands in a process, so it
 * has no timer of its own and keeps nothing that can be read again.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { SessionPrincipal } from '../access/auth.ts';
import type { Whose } from './conversation.ts';
import { maxFrameBytes } from '../contract/chat.ts';
import type { Pass } from './admission.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import type { Follower } from './tail.ts';
import type { Frame } from '../../models/chat/frame.ts';
import { errorTable, Problem } from '../../models/rules/base/errors.ts';

/** What waits to be sent to a reader before it counts as too slow, in bytes; some hundred full answers. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** A reason may have 123 bytes; ours are codes. */
const closeCodes: Readonly<Record<number, number>> = { 500: 1011, 503: 1013 };

/** The close code of a refusal: 4000 and the HTTP status, or WebSocket's own for what is our fault. */
const closeCodeOf = ({ status }: Pick<Problem, 'status'>): number => closeCodes[status] ?? 4000 + status;

/** Restarting: another process, or this one in a moment, takes the connection. */
export const RESTART = 1012;
const MALFORMED = 4400;

/** Codes that we close with, and those of connections that ended without one of ours: left, gone, none, broken. */
const codes: ReadonlySet<number> = new Set(
  Object.values(errorTable).map(closeCodeOf).concat(1000, 1001, 1005, 1006, RESTART, MALFORMED),
);
/** Whether a close code is one that we know; a client may send any other. */
export const isOurs = (code: number): boolean => codes.has(code);

export class ChatSocket extends WebSocket implements Follower {
  /** The last number this socket was given. */
  seq = 0;
  customer: SessionPrincipal | undefined;
  /** Of an embed. */
  pass: Pass | undefined;
  /** Where it comes from, as limits count. */
  network = '';
  conversation: Whose | undefined;
  /** The connection underneath. */
  raw: Duplex | undefined;
  /** What counts its frames; one for all sockets. */
  metrics: SocketMetrics | undefined;
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
    this.write(type, JSON.stringify({ type, seq: this.seq, ...body }));
  }

  deliver({ type, seq, body }: Frame): void {
    this.write(type, JSON.stringify({ type, seq, ...body }));
  }

  removed(): void {
    this.refuse(new Problem('NOT_FOUND', { message: 'There is no such conversation any more; connect anew.' }));
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
    this.metrics?.received.inc({ type: 'invalid' });
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

  private write(type: string, text: string): void {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.bufferedAmount > MAX_BUFFERED_BYTES) {
      // A close would wait behind what is not read; the reader comes back and resumes.
      this.terminate();
      return;
    }
    this.metrics?.sent.inc({ type });
    this.send(text);
  }
}
