/**
 * What a slice says of its streams so that `createLive` can serve them: who may connect, which stream a socket follows, and
 * what a client's frame means. Sockets, heartbeat, limits, the tail of the frame log and refusals are api/live's.
 */
import type { z } from 'zod';
import type { SocketMetrics } from '../http/metrics.ts';
import type { WatchedRecords } from '../../models/live/changes.ts';
import type { Frame } from '../../models/live/frame.ts';
import type { Problem } from '../../models/rules/base/errors.ts';

/** A handshake. */
export type ConnectRequest = {
  /** What `path` captured. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The `Origin` header. */
  origin: string | undefined;
  /** The client's network address. */
  address: string;
};

/** What a slice uses of a socket. */
export type StreamSocket = {
  /** The number of the last frame of the log it was given. */
  seq: number;
  /** Where it comes from, as limits count. */
  readonly network: string;
  /** Sends a frame that is not in the log; it carries the last number that was. */
  tell(type: string, body?: Record<string, unknown>): void;
  /** Says what is wrong and ends the connection. */
  refuse(problem: Problem): void;
};

/** `C`: what the slice keeps with each socket. `F`: the frames that a client may send. */
export type StreamKind<C, F extends { type: string } = { type: string }> = {
  /** The address without its query, with named groups. No two kinds may fit one address. */
  path: RegExp;
  metrics: SocketMetrics;
  /** The records whose ids are the streams. */
  streams: WatchedRecords & {
    /** What the sockets of one that ended are told before they are closed. */
    ended(): Problem;
  };
  /** The records that let clients in. */
  credentials: WatchedRecords & {
    ended(): Problem;
    of(client: C): string;
    /** Sockets that one may have in a process. */
    maxSockets: number;
    /** Which of these have ended: asked after a time in which nobody listened. */
    endedAmong(ids: readonly string[]): Promise<string[]>;
  };
  /** Who connects. @throws Problem for one who may not. */
  admit(request: ConnectRequest): Promise<C>;
  /**
   * Tells a socket where it is, sets its `seq`, and gives the id of its stream: it is given every frame after that number.
   * @throws Problem.
   */
  open(socket: StreamSocket, client: C, request: ConnectRequest): Promise<string>;
  /** Whether this is the type of a frame that clients send, and the frame itself. */
  isType(type: unknown): type is F['type'];
  frame: z.ZodType<F>;
  /** Whether a client may see a frame of its stream; without it, everybody sees every frame. */
  shows?(client: C, frame: Frame): boolean;
  /** Does what a frame asks for. @throws Problem, which is told to the socket. */
  take(socket: StreamSocket, client: C, frame: F): Promise<void>;
  /** What the log says of a client. */
  logged(client: C): Record<string, string>;
  /** Called for each socket that was opened: after `open`, and once it is closed. They start what takes long, and never throw. */
  came?(client: C): void;
  left?(client: C): void;
  /** Called when all sockets are closed and the process ends. */
  close?(): Promise<void>;
  /** Called for each socket once a second: whether its client may stay. It starts what takes long, and never throws. */
  check(socket: StreamSocket, client: C): void;
};
