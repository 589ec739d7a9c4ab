/**
 * A chat client for tests. It speaks the frames of docs/chat.md, remembers its position, resumes, and records every
 * fault of the server (an invalid frame, a number out of order).
 */
import { WebSocket } from 'ws';
import { FrameClient } from './frameclient.ts';
import { until, type Api, type TestOrg } from './harness.ts';
import { serverFrame, type ServerFrame } from '../../api/chat/contract/chat.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type Shown = { id: string; role: string; body: string };

/** The types of frames that come from the log. Each frame has its own number. */
const logged = [
  'ack',
  'typing',
  'reply_start',
  'reply_chunk',
  'notice',
  'reply_end',
  'agent_reply',
  'confirm',
  'step_up',
  'input',
  'input_ack',
  'confirm_ack',
  'action_result',
  'escalated',
  'status',
];

export type Minted = { token: string; sessionId: string; orgId: string; customerId: string; key: string };

/** Mints a session for a customer of this organization, as a backend does. */
export async function mint(
  api: Api,
  org: TestOrg,
  options: { key?: string; customer?: string; ttlSeconds?: number; context?: object } = {},
): Promise<Minted> {
  const key = options.key ?? (await api.newKey(org)).token;
  const { status, body } = await api.request('POST', `/support/sessions/orgs/${org.orgId}/mint`, {
    token: key,
    body: {
      customer: { externalCustomerId: options.customer ?? crypto.randomUUID() },
      ...defined({ ttlSeconds: options.ttlSeconds, context: options.context }),
    },
  });
  if (status !== 200) throw new Error(`mint: ${status} ${JSON.stringify(body)}`);
  return { token: body.token, sessionId: body.session_id, orgId: org.orgId, customerId: body.customer_id, key };
}

export type Query = Record<string, string>;
/** The WebSocket address of the chat of an organization. */
export function chatUrl(apiUrl: string, orgId: string, query: Query): string {
  return `${apiUrl.replace(/^http/, 'ws')}/v1/support/chat/ws/${orgId}?${new URLSearchParams(query).toString()}`;
}

export class ChatClient extends FrameClient<ServerFrame> {
  readonly orgId: string;
  readonly credentials: Query;
  /** Called with each received frame. */
  heard: (frame: ServerFrame) => void = () => undefined;
  convId: string | undefined;
  seq = 0;
  /** What a page would show: the history built from the frames. */
  shown = new Map<string, Shown>();
  private readonly headers: Query;

  /** `headers` are additional headers of the handshake, by default those of a page on a local development server. */
  constructor(orgId: string, credentials: Query, headers: Query = {}) {
    super();
    this.orgId = orgId;
    this.credentials = credentials;
    this.headers = { origin: 'http://localhost:8080', ...headers };
  }

  /** Connects, and waits for the handshake. `query` is added to the credentials. */
  async connect(apiUrl: string, query: Query = {}): Promise<this> {
    await this.connectTo(chatUrl(apiUrl, this.orgId, { ...this.credentials, ...query }), 'open', this.headers);
    return this;
  }

  /** Reconnects to the conversation at the current position. */
  async resume(apiUrl: string): Promise<this> {
    return this.connect(apiUrl, { conv_id: this.convId!, resume_from: String(this.seq) });
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  sendRaw(data: string | Uint8Array): void {
    this.socket?.send(data);
  }

  say(body: string, clientMessageId?: string): void {
    this.send({
      type: 'message',
      body,
      ...defined({ client_message_id: clientMessageId }),
    });
  }

  /** Resolves when the frame with this number has arrived. */
  async caughtUp(seq: number): Promise<void> {
    await until(async () => this.seq >= seq, `frame ${seq} of ${this.convId}`);
  }

  protected take(text: string, isBinary: boolean): void {
    const parsed = isBinary ? undefined : serverFrame.safeParse(JSON.parse(text));
    if (!parsed?.success) {
      this.faults.push(`not a frame: ${text.slice(0, 500)} ${parsed?.error.message ?? 'binary'}`);
      return;
    }
    const frame = parsed.data;
    this.frames.push(frame);
    // A welcome frame sets the position, whatever the client assumed.
    if (frame.type === 'welcome') this.seq = frame.seq;
    else if (logged.includes(frame.type) && frame.seq === this.seq + 1) this.seq = frame.seq;
    // An acknowledgement may arrive again when the client repeats the message.
    else if (frame.seq !== this.seq || (logged.includes(frame.type) && frame.type !== 'ack')) {
      this.faults.push(`${frame.type} ${frame.seq} after ${this.seq}`);
    }
    this.show(frame);
    this.heard(frame);
  }

  private show(frame: ServerFrame): void {
    switch (frame.type) {
      case 'welcome':
        this.convId = frame.conv_id;
        break;
      case 'history':
        this.shown = new Map(frame.messages.map(({ id, role, body }) => [id, { id, role, body }]));
        break;
      case 'ack':
        this.put(frame.message_id, 'customer', frame.body);
        break;
      case 'reply_start':
        this.put(frame.message_id, 'ai', '');
        break;
      case 'reply_chunk':
        this.put(frame.message_id, 'ai', `${this.shown.get(frame.message_id)?.body ?? ''}${frame.body}`);
        break;
      case 'reply_end':
        this.put(frame.message_id, 'ai', frame.body);
        break;
      case 'agent_reply':
        this.put(frame.message_id, 'agent', frame.body);
        break;
      default:
    }
  }

  private put(id: string, role: string, body: string): void {
    this.shown.set(id, { id, role, body });
  }
}
