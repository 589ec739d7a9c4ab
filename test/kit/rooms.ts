/**
 * A participant of a room for tests. It speaks the frames of the room, remembers its position, and records every fault
 * of the server.
 */
import { WebSocket } from 'ws';
import { until } from './harness.ts';
import { serverFrame, type RoomServerFrame } from '../../api/interviews/contract/rooms.ts';

type FrameOf<T extends RoomServerFrame['type']> = Extract<RoomServerFrame, { type: T }>;

export class Guest {
  readonly frames: RoomServerFrame[] = [];
  readonly faults: string[] = [];
  seq = 0;
  closed: { code: number; reason: string } | undefined;
  private socket: WebSocket | undefined;
  readonly token: string;

  /** `link` is an address of the page or of the socket. Its last part is the token. */
  constructor(link: string) {
    this.token = link.split('/').at(-1)!;
  }

  /** Connects and waits for the welcome frame or a refusal. */
  async connect(apiUrl: string, query: Record<string, string> = {}): Promise<this> {
    const url = `${apiUrl.replace(/^http/, 'ws')}/v1/rooms/ws/${this.token}?${new URLSearchParams(query).toString()}`;
    const socket = new WebSocket(url);
    this.socket = socket;
    this.closed = undefined;
    socket.on('message', (data) => this.take((data as Buffer).toString('utf8')));
    socket.on('close', (code, reason) => {
      if (this.socket === socket) this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => undefined);
    await new Promise((resolve) => void socket.once('message', resolve).once('close', resolve));
    return this;
  }

  resume(apiUrl: string): Promise<this> {
    return this.connect(apiUrl, { resume_from: String(this.seq) });
  }

  drop(): void {
    this.socket?.terminate();
  }

  send(frame: object): void {
    this.socket?.send(JSON.stringify(frame));
  }

  say(body: string, id: string = crypto.randomUUID()): void {
    this.send({ type: 'message', body, client_message_id: id });
  }

  all<T extends RoomServerFrame['type']>(type: T): FrameOf<T>[] {
    return this.frames.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  /** Waits for the first frame of this type that fits. */
  frame<T extends RoomServerFrame['type']>(
    type: T,
    fits: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    return until(
      async () => this.all(type).find(fits),
      () => `the frame ${type}; there are ${JSON.stringify(this.frames.slice(-5))} ${JSON.stringify(this.closed)}`,
    );
  }

  ended(): Promise<{ code: number; reason: string }> {
    return until(async () => this.closed, 'the connection to end');
  }

  private take(text: string): void {
    const parsed = serverFrame.safeParse(JSON.parse(text));
    if (!parsed.success) {
      this.faults.push(`${text} ${parsed.error.message}`);
      return;
    }
    if (parsed.data.type !== 'welcome' && parsed.data.seq < this.seq) this.faults.push(`${text} after ${this.seq}`);
    this.seq = parsed.data.seq;
    this.frames.push(parsed.data);
  }
}
