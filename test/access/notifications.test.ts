import { expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { notifyMembers, NotificationModel } from '../../models/access/notification.ts';
import { addMember, createOrganization, newOrganization } from '../../models/access/organization.ts';
import { newId } from '../../models/base/ids.ts';
import { everyRecord } from '../../models/base/define.ts';

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
