/** A member's page for tests: it follows the inbox of an organization, and remembers every frame and every fault. */
import { FrameClient } from './frameclient.ts';
import type { Api, TestUser } from './harness.ts';
import { staffFrame, type StaffServerFrame } from '../../api/chat/contract/live.ts';

export class StaffClient extends FrameClient<StaffServerFrame> {
  /**
   * Requests the address of a socket, connects, and waits for the welcome frame. `at`: the URL of the API process to
   * connect to, which may be another one than `api`.
   */
  static async open(api: Api, orgId: string, { token }: TestUser, query = '', at = api.url): Promise<StaffClient> {
    const client = StaffClient.to(`${await address(api, orgId, token, at)}${query}`);
    await client.frame('welcome');
    return client;
  }

  /** Connects to this address without requesting one. */
  static to(url: string): StaffClient {
    const client = new StaffClient();
    void client.connectTo(url, 'open');
    return client;
  }

  protected take(text: string): void {
    const told = JSON.stringify(JSON.parse(text));
    const parsed = staffFrame.safeParse(JSON.parse(text));
    if (!parsed.success) {
      this.faults.push(`${text.slice(0, 500)} ${parsed.error.message}`);
      return;
    }
    // A frame must not contain fields that its schema does not have.
    if (JSON.stringify(parsed.data).length !== told.length) this.faults.push(`more than documented: ${told}`);
    this.frames.push(parsed.data);
  }
}

/** Requests the address of a socket from `api`. `at`: the URL of the API process that the address leads to. */
export async function address(api: Api, orgId: string, token: string, at = api.url): Promise<string> {
  const { status, body } = await api.request('POST', `/support/live/orgs/${orgId}`, { token, body: {} });
  if (status !== 201) throw new Error(`live: ${status} ${JSON.stringify(body)}`);
  const { pathname, search } = new URL(body.data.ws_url as string);
  return `${at.replace(/^http/, 'ws')}${pathname}${search}`;
}
