/** The two independent verifiers of Standard Webhooks: the libraries from npm and PyPI. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Received } from './receiver.ts';

type Signed = Pick<Received, 'body'> & { headers: Record<string, unknown> };

const program = `
import json, sys
from standardwebhooks import Webhook
asked = json.load(sys.stdin)
secret = asked["secret"] if asked["secret"].startswith("whsec_") else asked["secret"].encode()
json.dump(Webhook(secret).verify(asked["body"].encode(), asked["headers"]), sys.stdout)
`;

/** The payload that the npm library verified. @throws when the library refuses the request. */
export function verifiedByNpm(secret: string, { body, headers }: Signed): unknown {
  const webhook = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  return webhook.verify(body, headers as Record<string, string>);
}

/** The payload that the PyPI library verified. Rejects when the library refuses the request. */
export async function verifiedByPython(secret: string, { body, headers }: Signed): Promise<unknown> {
  const child = spawn(process.env['TEST_STANDARDWEBHOOKS']!, ['-c', program], { stdio: ['pipe', 'pipe', 'pipe'] });
  const [out, error] = [text(child.stdout), text(child.stderr)];
  child.stdin.end(JSON.stringify({ secret, body, headers }));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(await error);
  return JSON.parse(await out);
}
