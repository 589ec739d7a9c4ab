/** Which mails a candidate still gets when they are sent late or again: the writer of the mails on a real database. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { box } from '../kit/inbound.ts';
import { invitationLetterOf } from '../../activities/interviews/invitationletter.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { newId } from '../../models/base/ids.ts';
import { deliveryRecords, insertDeliveries, type Delivery } from '../../models/events/delivery.ts';
import { createInterview } from '../../models/interviews/interview.ts';
import { newState } from '../../models/rules/interviews/interview.ts';
import {
  invitationEvent,
  invitationId,
  invitationLine,
  type Invitation,
} from '../../models/rules/interviews/invitation.ts';

modelsIn('invitationletters');

const [orgId, owner, now] = [newId('org'), newId('user'), new Date()];
beforeAll(() => createOrganization(newOrganization(orgId, 'Bank', owner, now)));

const [old, present] = ['ann@candidate.example', 'ben@candidate.example'];
const at = new Date(now.getTime() + 86_400_000).toISOString();
type Mail = Pick<Invitation, 'email' | 'over'>;
const cancels = (email: string): Mail => ({ email, over: true });

/** The letter of one of the mails to Ben Ode, who is the candidate now, and to those whom he replaced. */
async function letterOf(sequence: number, mails: readonly [Mail, Delivery['status'] | 'expired'][]) {
  const id = newId('interview');
  const invitations = mails.map(([mail], n): Invitation => ({
    ...mail,
    sequence: n,
    at,
    meeting_url: 'https://meet.example/1',
  }));
  await createInterview({
    _id: id,
    org_id: orgId,
    mode: 'live',
    role_title: 'Data Engineer',
    role_key: 'data engineer',
    interview_mode: 'solo',
    language: 'en',
    skills: [],
    evaluation_criteria: [],
    question_count: 3,
    questions: [],
    questions_by: 'rules_or_model',
    scheduled_at: new Date(at),
    candidate: { name: 'Ben Ode', email: present, resume_parsed: false },
    created_by: owner,
    status: 'scheduled',
    seq: 0,
    state: newState([], undefined),
    history: [],
    invited: invitations.at(-1)!,
    created_at: now,
    updated_at: now,
  });
  const deliveries = deliveryRecords(
    invitations.map((invitation) => ({
      org_id: orgId,
      mode: 'live',
      kind: 'notification',
      event_id: invitationId(id, invitation.sequence),
      event_type: invitationEvent,
      lane: 'mail',
      line: invitationLine(id),
      destination: invitation.email,
      subject: { seq: invitation.sequence },
      about: [id],
      payload: { invitation: { ...invitation, interview_id: id } },
    })),
    now,
  );
  const kept = deliveries.flatMap((delivery, n): Delivery[] => {
    const status = mails[n]![1];
    return status === 'expired' ? [] : [{ ...delivery, status }];
  });
  await insertDeliveries(kept);
  const letter = await invitationLetterOf(deliveries[sequence]!, { secrets: box, publicUrl: 'http://127.0.0.1:3000' });
  const from = { name: '', address: 'support@bank.example' };
  return letter && { to: letter.to, ...letter.words({ from, via: 'deployment', shown: false }) };
}

describe('invitationLetterOf', () => {
  it('the cancellation to a replaced candidate does not name the new candidate, who gets a first invitation', async () => {
    const mails: [Mail, Delivery['status']][] = [
      [{ email: old }, 'delivered'],
      [cancels(old), 'pending'],
      [{ email: present }, 'pending'],
    ];
    const cancellation = (await letterOf(1, mails))!;
    expect(cancellation.subject).toMatch(/^Cancelled: /);
    expect(cancellation.to.address).toBe(old);
    expect(JSON.stringify(cancellation)).not.toContain('Ben');
    const invitation = (await letterOf(2, mails))!;
    expect(invitation.to).toEqual({ name: 'Ben Ode', address: present });
    expect(invitation.text).toMatch(/^Hello Ben Ode,[^]*You are invited/);
  });

  it('an old cancellation that is sent again reaches nobody whose address was invited again since', async () => {
    const again: [Mail, Delivery['status']][] = [
      [{ email: present }, 'delivered'],
      [cancels(present), 'failed'],
      [{ email: old }, 'delivered'],
      [cancels(old), 'failed'],
      [{ email: present }, 'delivered'],
    ];
    expect(await letterOf(1, again)).toBeNull();
    expect((await letterOf(3, again))?.to.address).toBe(old);
  });

  it('a cancellation is sent when the invitation’s delivery has expired and the update after it failed', async () => {
    const mails = (first: Delivery['status'] | 'expired'): [Mail, Delivery['status'] | 'expired'][] => [
      [{ email: present }, first],
      [{ email: present }, 'failed'],
      [cancels(present), 'pending'],
    ];
    expect((await letterOf(2, mails('expired')))?.subject).toMatch(/^Cancelled: /);
    // An address that certainly got no invitation gets no cancellation.
    expect(await letterOf(2, mails('failed'))).toBeNull();
  });
});
