/** A member's page for tests: it follows the inbox of an organization, and remembers every frame and every fault. */
import { WebSocket } from 'ws';
import { until, type Api, type TestUser } from './harness.ts';
import { staffFrame, type StaffServerFrame } from '../../api/chat/contract/live.ts';

type FrameOf<T extends StaffServerFrame['type']> = Extract<StaffServerFrame, { type: T }>;

export class StaffClient {
  readonly frames: StaffServerFrame[] = [];
  /** Frames that are not as documented. */
  readonly faults: string[] = [];
  closed: number | undefined;
  private readonly socket: WebSocket;

  private constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data) => {
      const parsed = staffFrame.safeParse(JSON.parse((data as Buffer).toString('utf8')));
      const told = JSON.stringify(JSON.parse((data as Buffer).toString('utf8')));
      // A frame must not contain fields that its schema does not have.
      if (parsed.success && JSON.stringify(parsed.data).length !== told.length)
        this.faults.push(`more than documented: ${told}`);
      if (parsed.success) this.frames.push(parsed.data);
      else this.faults.push(`${(data as Buffer).toString('utf8').slice(0, 500)} ${parsed.error.message}`);
    });
    this.socket.on('close', (code) => (this.closed = code));
    this.socket.on('error', () => undefined);
  }

  /**
   * Requests the address of a socket, connects, and waits for the welcome frame. `at`: the URL of the API process to
   * connect to, which may be another one than `api`.
   */
  static async open(api: Api, orgId: string, { token }: TestUser, query = '', at = api.url): Promise<StaffClient> {
    const client = new StaffClient(`${await address(api, orgId, token, at)}${query}`);
    await client.frame('welcome');
    return client;
  }

  /** Connects to this address without requesting one. */
  static to = (url: string): StaffClient => new StaffClient(url);

  /** Waits for the first frame of this type that fits. */
  async frame<T extends StaffServerFrame['type']>(
    type: T,
    fits: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    return until(async () => {
      const found = this.frames.find((one) => one.type === type && fits(one as FrameOf<T>));
      if (!found && this.closed !== undefined) throw new Error(`no ${type}: closed with ${this.closed}`);
      return found as FrameOf<T> | undefined;
    }, `the frame ${type}`);
  }

  all<T extends StaffServerFrame['type']>(type: T): FrameOf<T>[] {
    return this.frames.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Waits for the close code. */
  ended = (): Promise<number> => until(async () => this.closed, 'the connection to end');

  async close(): Promise<void> {
    this.socket.close();
    await this.ended();
  }
}

/** Requests the address of a socket from `api`. `at`: the URL of the API process that the address leads to. */
export async function address(api: Api, orgId: string, token: string, at = api.url): Promise<string> {
  const { status, body } = await api.request('POST', `/support/live/orgs/${orgId}`, { token, body: {} });
  if (status !== 201) throw new Error(`live: ${status} ${JSON.stringify(body)}`);
  const { pathname, search } = new URL(body.data.ws_url as string);
  return `${at.replace(/^http/, 'ws')}${pathname}${search}`;
}
