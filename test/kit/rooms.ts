/**
 * A participant of a room for tests. It speaks the frames of the room, remembers its position, and records every fault
 * of the server.
 */
import { FrameClient } from './frameclient.ts';
import { serverFrame, type RoomServerFrame } from '../../api/interviews/contract/rooms.ts';

export class Guest extends FrameClient<RoomServerFrame> {
  seq = 0;
  readonly token: string;

  /** `link` is an address of the page or of the socket. Its last part is the token. */
  constructor(link: string) {
    super();
    this.token = link.split('/').at(-1)!;
  }

  /** Connects and waits for the welcome frame or a refusal. */
  async connect(apiUrl: string, query: Record<string, string> = {}): Promise<this> {
    const path = `/v1/rooms/ws/${this.token}?${new URLSearchParams(query).toString()}`;
    await this.connectTo(`${apiUrl.replace(/^http/, 'ws')}${path}`, 'message');
    return this;
  }

  resume(apiUrl: string): Promise<this> {
    return this.connect(apiUrl, { resume_from: String(this.seq) });
  }

  say(body: string, id: string = crypto.randomUUID()): void {
    this.send({ type: 'message', body, client_message_id: id });
  }

  protected take(text: string): void {
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
