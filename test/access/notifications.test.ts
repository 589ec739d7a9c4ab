import { expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn } from '../kit/database.ts';
import { notifyMembers, NotificationModel } from '../../models/access/notification.ts';
import { addMember, createOrganization, newOrganization } from '../../models/access/organization.ts';
import { newId } from '../../models/base/ids.ts';
import { everyRecord } from '../../models/base/define.ts';
import { breakIntegration, connectIntegration, disconnectIntegration } from '../../models/integrations/integration.ts';
import { breakConnection } from '../../providers/base/broken.ts';

modelsIn('notifications');

it('each member gets one notification per occasion, even when concurrent calls report the same occasion', async () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const [orgId, owner, other] = [newId('org'), newId('user'), newId('user')];
  await createOrganization(newOrganization(orgId, 'Plover', owner, now));
  await addMember(orgId, owner, { user_id: other, role: 'member', joined_at: now });
  const said = { kind: 'integration_broken', title: 'Slack is broken', body: 'Connect it again.', about: [] };
  const notice = { ...said, key: 'broken:1' };
  await Promise.all(Array.from({ length: 8 }, () => notifyMembers(orgId, notice, new Date())));
  await notifyMembers(orgId, { ...notice, key: 'broken:2' }, new Date());
  const found = await NotificationModel.find({ org_id: orgId }, null, everyRecord).lean();
  const told = found.map(({ user_id, key, read }) => [user_id, key, read]);
  const each = [owner, other].flatMap((id) => [
    [id, 'broken:1', false],
    [id, 'broken:2', false],
  ]);
  expect(told.toSorted()).toEqual(each.toSorted());
});

it('members are notified of a broken connection once, and not after it was disconnected or connected again', async () => {
  const now = new Date();
  const [orgId, owner] = [newId('org'), newId('user')];
  await createOrganization(newOrganization(orgId, 'Plover', owner, now));
  const connect = () => connectIntegration(orgId, 'slack', { account: 'A', settings: {}, sealed: 's' }, now);
  const refused = (connection: Awaited<ReturnType<typeof connect>>) =>
    breakConnection(connection, 'token_revoked', { clock: () => now, log: pino({ level: 'silent' }) });
  const told = async () =>
    (await NotificationModel.find({ org_id: orgId }, null, everyRecord).lean()).map(({ key }) => key);
  const first = await connect();
  await disconnectIntegration(orgId, 'slack', now);
  await refused(first);
  const second = await connect();
  await refused(first);
  expect(await told()).toEqual([]);
  // A process marks the connection as broken, and dies before it notifies the members.
  await breakIntegration(second, 'token_revoked', now);
  for (let times = 0; times < 2; times += 1) await refused(second);
  expect(await told()).toEqual([`integration_broken:slack:${second.generation}`]);
  await connect();
  await refused(second);
  expect(await told()).toHaveLength(1);
});
