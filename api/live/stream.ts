/**
 * What a slice declares about its streams so that `createLive` can serve them: who may connect, which stream a socket
 * follows, and what a client's frames mean. api/live does the rest: sockets, heartbeat, limits, the tail of the frame
 * log and refusals.
 */
import type { z } from 'zod';
import type { SocketMetrics } from '../http/metrics.ts';
import type { WatchedRecords } from '../../models/live/changes.ts';
import type { Frame } from '../../models/live/frame.ts';
import type { Problem } from '../../models/rules/base/errors.ts';

/** A handshake. */
export type ConnectRequest = {
  /** The named groups of `path`. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The `Origin` header. */
  origin: string | undefined;
  /** The client's network address. */
  address: string;
};

/** The part of a socket that a slice uses. */
export type StreamSocket = {
  /** The number of the last logged frame that it was sent. */
  seq: number;
  /** The network that limits count by. */
  readonly network: string;
  /** Sends a frame that is not in the log; it carries the number of the last logged frame. */
  tell(type: string, body?: Record<string, unknown>): void;
  /** Sends what is wrong and closes the connection. */
  refuse(problem: Problem): void;
};

/** `C`: the data that the slice keeps with each socket. `F`: the frames that a client may send. */
export type StreamKind<C, F extends { type: string } = { type: string }> = {
  /** The URL's path, with named groups. No two kinds may match one path. */
  path: RegExp;
  metrics: SocketMetrics;
  /** The records whose ids are the streams. */
  streams: WatchedRecords & {
    /** What the sockets of an ended stream are told before they are closed. */
    ended(): Problem;
  };
  /** The records that admit clients. */
  credentials: WatchedRecords & {
    ended(): Problem;
    of(client: C): string;
    /** How many sockets one credential may have in a process. */
    maxSockets: number;
    /** Which of these have ended: called after the change stream was down. */
    endedAmong(ids: readonly string[]): Promise<string[]>;
  };
  /** Returns the client. @throws Problem when it may not connect. */
  admit(request: ConnectRequest): Promise<C>;
  /**
   * Tells a socket its position, sets its `seq`, and returns the id of its stream: it gets every frame after that
   * number. @throws Problem.
   */
  open(socket: StreamSocket, client: C, request: ConnectRequest): Promise<string>;
  /** `isType`: whether clients may send frames of this type; `frame`: the schema. */
  isType(type: unknown): type is F['type'];
  frame: z.ZodType<F>;
  /** Whether a client may see a frame of its stream; without it, everybody sees every frame. */
  shows?(client: C, frame: Frame): boolean;
  /** Handles a frame. @throws Problem, which is sent to the socket. */
  take(socket: StreamSocket, client: C, frame: F): Promise<void>;
  /** What the log says about a client. */
  logged(client: C): Record<string, string>;
  /**
   * Called for each opened socket: after `open`, and when it is closed. They start long work without waiting, and never
   * throw.
   */
  came?(client: C): void;
  left?(client: C): void;
  /** Called when all sockets are closed and the process ends. */
  close?(): Promise<void>;
  /**
   * Called for each socket once a second to check whether its client may stay. It starts long work without waiting, and
   * never throws.
   */
  check(socket: StreamSocket, client: C): void;
};
