/**
 * Stateful emulators of Slack, Linear and GitHub, each behind a small proxy that records every request. A test can make
 * the proxy refuse requests, lose answers after the service has acted, or hold answers back.
 */
import { createEmulator } from 'emulate';
import { freePort } from '../../engines/ports.ts';
import { json, serving } from './listening.ts';

export type Sent = { path: string; headers: Record<string, unknown>; body: string };
/**
 * What happens to the next matching request. With `lose` the service acts, and the connection breaks before its answer.
 */
export type Fault = {
  fits?: (sent: Sent) => boolean;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  lose?: true;
  /** The service acts and never answers. */
  mute?: true;
  /** The request is answered only after this promise resolves. */
  until?: Promise<void>;
};

export type Service = {
  url: string;
  sent: Sent[];
  /** Each fault is used once. A `lasting` one stays until `heal`. */
  fault(...next: Fault[]): void;
  lasting(fault: Fault): void;
  /** The function is called for each request that no fault matches. */
  choosing(choose: (sent: Sent) => Fault | undefined): void;
  heal(): void;
  close(): Promise<void>;
};

async function behindProxy(target: { url: string; close(): Promise<void> }): Promise<Service> {
  const sent: Sent[] = [];
  const faults: Fault[] = [];
  let lasting: Fault | undefined;
  let choose: ((sent: Sent) => Fault | undefined) | undefined;
  const { url, close } = await serving(async (request, response, body) => {
    const one: Sent = { path: request.url ?? '', headers: request.headers, body };
    sent.push(one);
    const at = faults.findIndex(({ fits }) => fits?.(one) ?? true);
    const standing = lasting?.fits?.(one) === false ? undefined : lasting;
    const fault = at === -1 ? (standing ?? choose?.(one)) : faults.splice(at, 1)[0];
    await fault?.until;
    if (fault && !fault.lose && fault.body !== undefined) {
      json(response, fault.status ?? 200, fault.body, fault.headers);
      return;
    }
    const names = ['content-type', 'authorization'];
    const passed = names.flatMap((name): [string, string][] =>
      request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
    );
    const answer = await fetch(`${target.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: passed,
      redirect: 'manual',
      ...(body === '' ? {} : { body }),
    });
    const text = await answer.text();
    if (fault?.mute) return;
    if (fault?.lose) return void request.socket.destroy();
    const location = answer.headers.get('location');
    response
      .writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'text/plain',
        ...(location === null ? {} : { location }),
      })
      .end(text);
  });
  return {
    url,
    sent,
    fault: (...next) => void faults.push(...next),
    lasting: (fault) => void (lasting = fault),
    choosing: (chooses) => void (choose = chooses),
    heal() {
      faults.length = 0;
      lasting = undefined;
      choose = undefined;
    },
    async close() {
      await close();
      await target.close();
    },
  };
}

export const slackApp = { clientId: '111.222', clientSecret: 'slack-client-secret' };
export const linearTeam = { id: '11111111-1111-4111-8111-111111111111', key: 'SUP', name: 'Support' };
export const linearStates = {
  todo: '22222222-0000-4000-8000-000000000001',
  doing: '22222222-0000-4000-8000-000000000002',
  done: '22222222-0000-4000-8000-000000000003',
  canceled: '22222222-0000-4000-8000-000000000004',
};

export async function startSlackService(): Promise<Service> {
  const emulator = await createEmulator({
    service: 'slack',
    port: await freePort(),
    seed: {
      slack: {
        team: { name: 'Demo Bank', domain: 'demo-bank' },
        users: [
          { name: 'kim', real_name: 'Kim Lee', profile: { email: 'kim@example.com' } },
          { name: 'robin', real_name: 'Robin Roe' },
        ],
        channels: [{ name: 'support' }, { name: 'elsewhere' }],
        oauth_apps: [
          {
            client_id: slackApp.clientId,
            client_secret: slackApp.clientSecret,
            name: 'Support',
            redirect_uris: ['http://127.0.0.1:3000/v1/integrations/slack/callback'],
          },
        ],
      },
    },
  });
  return behindProxy(emulator);
}

export async function startLinearService(): Promise<Service> {
  const emulator = await createEmulator({
    service: 'linear',
    port: await freePort(),
    seed: {
      linear: {
        organization: { name: 'Demo Bank', url_key: 'demo-bank' },
        teams: [
          {
            ...linearTeam,
            states: [
              { id: linearStates.todo, name: 'Todo', type: 'unstarted' },
              { id: linearStates.doing, name: 'In Progress', type: 'started' },
              { id: linearStates.done, name: 'Done', type: 'completed' },
              { id: linearStates.canceled, name: 'Canceled', type: 'canceled' },
            ],
          },
        ],
      },
    },
  });
  return behindProxy(emulator);
}

export const githubRepository = 'demo-bank/help';
export const otherGithubRepository = 'demo-bank/other';
export async function startGithubService(): Promise<Service> {
  const emulator = await createEmulator({
    service: 'github',
    port: await freePort(),
    seed: {
      github: {
        users: [{ login: 'demo-bank', name: 'Demo Bank' }],
        repos: ['help', 'other'].map((name) => ({ owner: 'demo-bank', name, auto_init: true })),
      },
    },
  });
  return behindProxy(emulator);
}

/** Sends a request directly to a Slack emulator, as another user. */
export async function slackCall(service: Service, method: string, body: Record<string, unknown> = {}) {
  const reply = await fetch(`${service.url}/api/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer xoxb-of-a-test' },
    body: JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
  return (await reply.json()) as any;
}

/** Sends a request directly to a GitHub emulator. */
export async function githubCall(service: Service, method: string, path: string, body?: Record<string, unknown>) {
  const reply = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer ghp_of_a_test' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  return (await reply.json()) as any;
}

/** Sends a request directly to a Linear emulator. */
export async function linearCall(service: Service, query: string, variables: Record<string, unknown> = {}) {
  const reply = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'lin_api_of_a_test' },
    body: JSON.stringify({ query, variables }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  return (await reply.json()) as any;
}
