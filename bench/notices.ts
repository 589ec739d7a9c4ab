/**
 * Benchmark of the time from an escalation to the notification of a member, in the list and on the socket. It is
 * measured with one API process, and with two that share MongoDB and Temporal: one handles the escalation, the other
 * shows the notification. Goal: p99 under a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { onStage, quantile, startBeside, type Stage } from './stage.ts';
import { apiAt, type Api } from '../test/kit/harness.ts';
import { outboxOf } from '../test/kit/receiver.ts';
import { StaffClient } from '../test/kit/staffsocket.ts';

const targetMs = 1_000;
const rounds = process.argv.includes('small') ? 10 : 100;

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const other = await startBeside(stage);
    try {
      for (const [name, shown] of [
        ['one API process', apiAt(stage.url)],
        ['two API processes', apiAt(other.url)],
      ] as const)
        await measure(stage, name, shown);
    } finally {
      await other.stop();
    }
  });
}

async function measure(stage: Stage, name: string, shown: Api): Promise<void> {
  const api = apiAt(stage.url);
  const { newConversation, act } = outboxOf(api);
  const owner = await api.newOrg();
  const org = { ...owner, key: (await api.newKey(owner)).token };
  const socket = await StaffClient.open(api, org.orgId, org.owner, '', shown.url);
  const heard = async (convId: string): Promise<void> => {
    for (const began = performance.now(); ; await sleep(2)) {
      if (socket.all('notification').some(({ notification }) => notification.conv_id === convId)) return;
      if (performance.now() - began > 60_000) throw new Error(`no frame told of ${convId}`);
    }
  };
  const listed = async (convId: string): Promise<void> => {
    for (const began = performance.now(); ; await sleep(5)) {
      const { body } = await shown.request('GET', '/me/notifications?limit=5', { token: org.owner.token });
      if (body.data.notifications.some((one: { conv_id?: string }) => one.conv_id === convId)) return;
      if (performance.now() - began > 60_000) throw new Error(`nobody was told of ${convId}`);
    }
  };
  const waits: Record<'list' | 'socket', number[]> = { list: [], socket: [] };
  for (let round = 0; round < rounds; round += 1) {
    const { convId } = await newConversation(org);
    await sleep(100);
    const began = performance.now();
    await act(org, convId, 'escalate');
    const since = (where: keyof typeof waits) => () => void waits[where].push(performance.now() - began);
    await Promise.all([listed(convId).then(since('list')), heard(convId).then(since('socket'))]);
  }
  await socket.close();
  for (const [where, seen] of Object.entries(waits)) {
    const [p50, p99] = [quantile(seen, 0.5), quantile(seen, 0.99)];
    const verdict = p99 < targetMs ? 'reached' : 'not reached';
    console.log(
      `${name}: act to notification (${where}) p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (asked for: p99 under ${targetMs} ms): ${verdict}`,
    );
  }
}
