/** A deployment of two API processes and a worker over Redis, which dies and comes back while customers write. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startRedis, type RedisServer } from '../../engines/redis.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { ChatClient, mint } from '../kit/socket.ts';
import { StaffClient } from '../kit/staffsocket.ts';

const silent = (): void => undefined;
const customers = 2;
/** The messages of each customer; Redis is killed after the first part and runs again before the last. */
const parts = [3, 3, 3];

let redis: RedisServer;
let env: SystemEnv;
let processes: Running[];
let apis: Api[];
beforeAll(async () => {
  redis = await startRedis({ report: silent });
  env = systemEnv('overredis', { REDIS_URL: redis.url });
  processes = await Promise.all([
    startProcess('api/server.ts', env),
    startProcess('api/server.ts', env),
    startProcess('workers/main.ts', { ...env, FLEETS: 'conversations' }),
  ]);
  apis = processes.slice(0, 2).map(({ url }) => apiAt(url));
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await redis.stop();
  await removeDataDir(env);
});

it('while Redis dies and restarts, each message gets one answer, which reaches clients at both API processes and members', async () => {
  const [one, other] = apis as [Api, Api];
  const org = await one.newOrg();
  const member = await StaffClient.open(one, org.orgId, org.owner, '', other.url);
  const chats = await Promise.all(
    Array.from({ length: customers }, async (_, at) => {
      const { token } = await mint(one, org);
      const [home, elsewhere] = at % 2 === 0 ? [one, other] : [other, one];
      const writing = await new ChatClient(org.orgId, { sessionToken: token }).connect(home.url);
      const conv_id = await until(async () => writing.convId, 'the conversation');
      const reading = await new ChatClient(org.orgId, { sessionToken: token }).connect(elsewhere.url, { conv_id });
      await reading.frame('history');
      return { writing, reading };
    }),
  );
  let sent = 0;
  const write = (count: number) =>
    Promise.all(
      chats.map(async ({ writing }) => {
        for (let n = 0; n < count; n += 1) {
          const before = writing.all('reply_end').length;
          writing.say('Thank you!', crypto.randomUUID());
          sent += 1;
          await until(async () => writing.all('reply_end').length > before, 'the answer');
        }
      }),
    );
  await write(parts[0]!);
  redis.child.kill();
  await redis.stop();
  await write(parts[1]!);
  redis = await startRedis({ port: redis.port, report: silent });
  await write(parts[2]!);
  const all = customers * parts.reduce((sum, part) => sum + part, 0);
  expect(sent).toBe(all);
  for (const { writing, reading } of chats) {
    await reading.caughtUp(writing.seq);
    expect([...reading.shown]).toEqual([...writing.shown]);
    const roles = [...writing.shown.values()].map(({ role }) => role);
    expect(roles.filter((role) => role === 'customer')).toHaveLength(all / customers);
    expect(writing.all('reply_end')).toHaveLength(all / customers);
    expect([writing.faults, reading.faults]).toEqual([[], []]);
    const { last_message_at } = await entry(one, org, writing.convId!);
    await member.frame(
      'conversation',
      ({ conversation: seen }) => seen.conv_id === writing.convId && seen.last_message_at === last_message_at,
    );
    await Promise.all([writing.close(), reading.close()]);
  }
  expect(member.faults).toEqual([]);
  await member.close();
});

async function entry(api: Api, { orgId, owner }: TestOrg, convId: string) {
  const { status, body } = await api.request('GET', `/support/inbox/orgs/${orgId}/${convId}`, { token: owner.token });
  expect(status).toBe(200);
  return body.conversation as { last_message_at: string };
}
