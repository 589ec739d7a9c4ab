import { describe, expect, it } from '@jest/globals';
import { acts, conversationMoves, conversationStatuses } from '../../../models/rules/chat/conversation.ts';
import { noticeOf } from '../../../models/rules/chat/notice.ts';

const members = [undefined, 'ada', 'bob'];

/** Every possible act, in the form that `noticeOf` takes. */
const all = acts.flatMap((act) =>
  conversationStatuses.flatMap((from) => {
    const to = conversationMoves[act][from];
    if (to === undefined) return [];
    return members.flatMap((assignedBefore) =>
      members.flatMap((by) =>
        (act === 'assign' ? ['ada', 'bob'] : [assignedBefore]).map((assigned) => ({
          act,
          moved: { from, to, assignedBefore, assigned, by },
        })),
      ),
    );
  }),
);
const told = all.map((one) => ({ ...one, notice: noticeOf(one.act, one.moved) }));

describe('noticeOf', () => {
  it('an assignment notifies the new assignee, unless that member made the assignment or was already assigned', () => {
    for (const { act, moved, notice } of told) {
      const { assignedBefore, assigned, by } = moved;
      const expected = act === 'assign' && assigned !== assignedBefore && assigned !== by;
      expect([act, moved, notice?.kind === 'conversation_assigned']).toEqual([act, moved, expected]);
    }
  });

  it('a customer’s message notifies the assignee, and the first one after a reply notifies again despite an unread notice', () => {
    for (const { act, moved, notice } of told) {
      const expected = act === 'message' && moved.assigned !== undefined;
      expect([act, moved, notice?.kind === 'customer_replied']).toEqual([act, moved, expected]);
      if (expected) expect([moved, notice?.again]).toEqual([moved, moved.from === 'pending']);
    }
  });

  it('an escalation notifies the members, unless a customer’s message to an assigned member causes the escalation', () => {
    for (const { act, moved, notice } of told) {
      const waits = moved.to === 'escalated' && moved.from !== 'escalated' && act !== 'assign' && act !== 'unassign';
      const expected = waits && (act !== 'message' || moved.assigned === undefined);
      expect([act, moved, notice?.kind === 'conversation_escalated']).toEqual([act, moved, expected]);
    }
  });
});
