/**
 * What a part of the API (chat, interviews) declares about its streams so that `createLive` can serve them: who may
 * connect, which stream a socket follows, and what a client's frames mean. api/live handles sockets, heartbeat, limits,
 * the frame log and refusals.
 */
import type { z } from 'zod';
import type { SocketMetrics } from '../http/metrics.ts';
import type { WatchedRecords } from '../../models/live/changes.ts';
import type { Frame, Stream } from '../../models/live/frame.ts';
import type { Problem } from '../../models/rules/base/errors.ts';

/** A client's request to open a socket. */
export type ConnectRequest = {
  /** The named groups of `path`. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  origin: string | undefined;
  /** The client's network address. */
  address: string;
};

/** The methods of a socket that chat, rooms and the inbox use. */
export type StreamSocket = {
  /** The sequence number of the last logged frame that was sent to the socket. */
  seq: number;
  /** The client's network; rate limits are counted per network. */
  readonly network: string;
  /** Sends a frame that is not in the frame log. The frame carries the sequence number of the last logged frame. */
  tell(type: string, body?: Record<string, unknown>): void;
  /** Sends frames with one write to the network. Their text was made once for many sockets. */
  pass(made: readonly MadeFrame[]): void;
  /** Sends the error and closes the connection. */
  refuse(problem: Problem): void;
};

/** A frame as bytes, made once for many sockets. Their stream has no log, so the frame has no number (`seq` is 0). */
export type MadeFrame = { type: string; text: Buffer };
export const madeFrame = (type: string, body: object): MadeFrame => ({
  type,
  text: Buffer.from(JSON.stringify({ type, seq: 0, ...body })),
});

/** `C`: the data that the kind keeps with each socket. `F`: the frames that a client may send. */
export type StreamKind<C, F extends { type: string } = { type: string }> = {
  /** The URL's path, with named groups. No two kinds may match one path. */
  path: RegExp;
  metrics: SocketMetrics;
  /** The collection whose record ids are the ids of streams. */
  streams: WatchedRecords & {
    /** The error that the sockets of an ended stream get before they are closed. */
    ended(): Problem;
    /**
     * The ids of the ended streams among the given ones. Called after the change stream was down. Absent when
     * `credentials.endedAmong` finds the sockets of ended streams, too.
     */
    endedAmong?(streams: readonly Stream[]): Promise<string[]>;
  };
  /** The collection whose records admit clients, such as sessions. */
  credentials: WatchedRecords & {
    ended(): Problem;
    of(client: C): string;
    /** The most sockets that one credential, or one share of it, may have in a process. */
    maxSockets: number;
    /**
     * Names the client's share of a credential that several people use, so that one person cannot use up the sockets of
     * the others. Without this function, all clients of a credential have one share.
     */
    share?(client: C): string;
    /** Which of the given credentials have ended. Called after the change stream was down. */
    endedAmong(ids: readonly string[]): Promise<string[]>;
  };
  /** Returns the client. @throws Problem when it may not connect. */
  admit(request: ConnectRequest): Promise<C>;
  /**
   * Sends a socket its first frames, sets its `seq`, and returns its stream. The socket then gets every frame
   * after `seq`. @throws Problem.
   */
  open(socket: StreamSocket, client: C, request: ConnectRequest): Promise<Stream>;
  /** The schema of clients' frames, which has an option for each type. */
  frame: z.ZodType<F> & {
    readonly options: readonly { readonly shape: { readonly type: { readonly value: string } } }[];
  };
  /** Whether a client may see a frame of its stream. Without this function, every client sees every frame. */
  shows?(client: C, frame: Frame): boolean;
  /** Handles a frame. @throws Problem, which is sent to the socket. */
  take(socket: StreamSocket, client: C, frame: F): Promise<void>;
  /** The fields that identify a client in log lines. */
  logged(client: C): Record<string, string>;
  /**
   * `came` is called after `open`, and `left` when the socket is closed. They start long work in the background, and
   * never throw.
   */
  came?(client: C): void;
  left?(client: C): void;
  /** Called when the process ends, after all sockets are closed. */
  close?(): Promise<void>;
  /**
   * Called for every frame that any process appends to any stream. With Redis, only the frames of some organizations
   * are certain to arrive: those that an open socket follows, with the organization's id as its stream. The function
   * starts long work in the background.
   */
  hears?(frame: Frame): void;
  /** Called when `hears` may have missed frames. */
  missed?(): void;
  /**
   * Called for each socket once a second, to check whether its client may stay. It starts long work in the background,
   * and never throws.
   */
  check(socket: StreamSocket, client: C): void;
};
