/** Requests to the inbound routes, signed as the services sign them, and connections as members make them. */
import { createHmac, randomUUID } from 'node:crypto';
import type { Api, Reply } from './harness.ts';
import { until } from './harness.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { connectIntegration, sealCredentials, signingPlace } from '../../models/integrations/integration.ts';
import { linearExternal } from '../../providers/linear/rules.ts';

/** The Linear signing secret in every system that `systemEnv` describes. */
export const linearSecret = 'linear-deployment-secret';
/** Seals values with the key of `systemEnv`, as the processes do. */
export const box = createSecretBox([Buffer.from('a1'.repeat(32), 'hex')]);

export const hmac = (secret: string, ...parts: (string | Uint8Array)[]): string => {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return made.digest('hex');
};

type LinearOptions = {
  secret?: string;
  delivery?: string;
  /** Headers that replace the default ones. */
  headers?: Record<string, string>;
  /** A body that replaces the original one after signing. */
  sent?: string;
};

/** An event as Linear sends it. `webhookTimestamp` is the current time by default. */
export const linearEvent = (event: Record<string, unknown>): string =>
  JSON.stringify({ webhookTimestamp: Date.now(), webhookId: 'hook', createdAt: new Date().toISOString(), ...event });

export function sendLinear(api: Api, body: string, options: LinearOptions = {}): Promise<Reply> {
  const { secret = linearSecret, delivery = randomUUID(), sent = body } = options;
  return api.request('POST', '/webhooks/linear', {
    raw: sent,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'linear-delivery': delivery,
      ...(options.headers ?? { 'linear-signature': hmac(secret, body) }),
    },
  });
}

/** Stores a connection to Linear without a request to Linear. */
export function connectLinear(
  orgId: string,
  {
    team,
    workspace = randomUUID(),
    secret,
    apiKey = 'lin_api_test',
  }: {
    team: string;
    workspace?: string;
    secret?: string;
    apiKey?: string;
  },
) {
  return connectIntegration(
    orgId,
    'linear',
    {
      account: 'Test',
      settings: { team_id: team },
      sealed: sealCredentials({ org_id: orgId, provider: 'linear' }, { api_key: apiKey }, box),
      workspace,
      events_of: linearExternal(team),
      ...(secret === undefined
        ? {}
        : { sealed_signing: box.seal(secret, signingPlace({ org_id: orgId, provider: 'linear' })) }),
    },
    new Date(),
  );
}

/** The inbound events of an organization, newest first, once there are `count` of them and all are processed. */
export async function arrivedAt(api: Api, orgId: string, token: string, count: number) {
  let seen: Reply | undefined;
  return until(
    async () => {
      seen = await api.request('GET', `/support/inbound/orgs/${orgId}?limit=100`, { token });
      const all = seen.body.inbound as {
        status: string;
        reason: string | null;
        outcome: string | null;
        type: string;
      }[];
      return all.length >= count && all.every(({ status }) => status !== 'stored') && all;
    },
    () => `${count} events to be processed; last seen: ${JSON.stringify(seen?.body)}`,
  );
}
