/** The base of the socket clients for tests. It keeps all received frames, all faults of the server, and the close. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from './harness.ts';

type FrameOf<F extends { type: string }, T extends F['type']> = Extract<F, { type: T }>;

export abstract class FrameClient<F extends { type: string }> {
  /** All received frames over all connections, in the order of arrival. */
  readonly frames: F[] = [];
  /** The protocol faults that this client noticed. */
  readonly faults: string[] = [];
  closed: { code: number; reason: string } | undefined;
  protected socket: WebSocket | undefined;

  /** Takes a message of the server. */
  protected abstract take(text: string, isBinary: boolean): void;

  /** Connects, and waits for the handshake or the first message, or for a refusal. */
  protected async connectTo(
    url: string,
    event: 'open' | 'message',
    headers: Record<string, string> = {},
  ): Promise<void> {
    const socket = new WebSocket(url, { headers });
    this.socket = socket;
    this.closed = undefined;
    socket.on('message', (data, isBinary) => {
      if (this.socket === socket) this.take((data as Buffer).toString('utf8'), isBinary);
    });
    socket.on('close', (code, reason) => {
      if (this.socket === socket) this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => undefined);
    // An error event precedes the close event, and `once` of node:events would throw the error.
    await new Promise((resolve) => void socket.once(event, resolve).once('close', resolve));
  }

  /** Breaks the connection like a network failure. */
  drop(): void {
    this.socket?.terminate();
    this.socket = undefined;
  }

  /** Closes the connection and waits for the close. */
  async close(): Promise<void> {
    if (!this.socket || this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }

  send(frame: object): void {
    this.socket?.send(JSON.stringify(frame));
  }

  all<T extends F['type']>(type: T): FrameOf<F, T>[] {
    return this.frames.filter((frame): frame is FrameOf<F, T> => frame.type === type);
  }

  /** Waits for the first frame of this type that fits. */
  async frame<T extends F['type']>(
    type: T,
    fits: (frame: FrameOf<F, T>) => boolean = () => true,
  ): Promise<FrameOf<F, T>> {
    const state = () => `${JSON.stringify(this.frames.slice(-5))} ${JSON.stringify(this.closed)}`;
    return until(
      async () => {
        const found = this.all(type).find(fits);
        // A frame cannot arrive after the connection is closed.
        if (!found && this.closed) throw new Error(`no ${type}: ${state()}`);
        return found;
      },
      () => `the frame ${type}; the last ones are ${state()}`,
    );
  }

  /** Waits until the connection has ended and returns how. */
  ended(): Promise<{ code: number; reason: string }> {
    return until(async () => this.closed, 'the connection to end');
  }
}
