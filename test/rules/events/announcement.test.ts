import { describe, expect, it } from '@jest/globals';
import {
  announced,
  audienceOf,
  noticeMail,
  noticeSlack,
  noticeText,
  notifyEvents,
  type Happening,
  type Announced,
} from '../../../models/rules/events/announcement.ts';

const subsets = Array.from({ length: 2 ** announced.length }, (_, bits) =>
  announced.filter((_event, at) => (bits & (1 << at)) !== 0),
);
const people = { creator: 'ada', assignee: 'bob' };
const anybody = () => true;

/** For each event, the people concerned, and whether they get a notification in the app. */
const expected: Record<Announced, { concerned: string[]; notified: boolean }> = {
  task_created: { concerned: ['ada', 'bob'], notified: false },
  task_assigned: { concerned: ['bob'], notified: true },
  task_updated: { concerned: ['ada', 'bob'], notified: false },
  task_completed: { concerned: ['ada', 'bob'], notified: true },
  task_executed: { concerned: ['ada', 'bob'], notified: true },
  meeting_ended: { concerned: ['ada', 'bob'], notified: true },
  summary_ready: { concerned: ['ada', 'bob'], notified: true },
};

describe('audienceOf', () => {
  it.each(announced)(
    'with each of 512 settings, the event %s is announced to exactly the people concerned, over the chosen channels',
    (event) => {
      const { concerned, notified } = expected[event];
      const wrong: unknown[] = [];
      for (const notify_on of subsets)
        for (const slack of [true, false])
          for (const email of [true, false]) {
            const wanted = notify_on.includes(event);
            const found = audienceOf({ slack, email, notify_on }, { event }, people, anybody);
            const right = {
              slack: slack && wanted,
              mailed: email && wanted ? concerned : [],
              notified: notified ? concerned : [],
            };
            if (JSON.stringify(found) !== JSON.stringify(right)) wrong.push([slack, email, notify_on, found]);
          }
      expect(wrong).toEqual([]);
    },
  );

  const all = { slack: true, email: true, notify_on: notifyEvents };
  it('an announcement is sent to members only, and once to a creator who is also the assignee', () => {
    const event = 'task_completed';
    expect(audienceOf(all, { event }, people, (id) => id === 'ada')).toMatchObject({
      mailed: ['ada'],
      notified: ['ada'],
    });
    expect(audienceOf(all, { event }, { creator: 'ada', assignee: 'ada' }, anybody).mailed).toEqual(['ada']);
    expect(audienceOf(all, { event }, { creator: 'ada' }, anybody).notified).toEqual(['ada']);
    expect(audienceOf(all, { event: 'task_assigned' }, { creator: 'ada' }, anybody).mailed).toEqual([]);
  });

  it('members are notified of a change that no member made', () => {
    const note = 'Its assignee left the organization.';
    expect(audienceOf(all, { event: 'task_updated', note }, { creator: 'ada' }, anybody).notified).toEqual(['ada']);
  });
});

describe('the text of an announcement', () => {
  const told: Happening = {
    event: 'task_assigned',
    event_id: 'evt_1',
    title: 'Ship <!channel> & <https://evil.example|this>\nBcc: all@bank.example',
    actor: 'Ada <@U1>',
    assignee: 'Bob',
    due_date: '2026-12-01',
    note: 'Why not.',
  };

  it('an announcement says on separate lines who did what, the due date and the note', () => {
    expect(noticeText({ ...told, title: 'Ship it' })).toEqual({
      title: 'Task assigned',
      body: 'Ada <@U1> assigned the task “Ship it” to Bob.\nDue 2026-12-01.\nWhy not.',
    });
    expect(noticeText({ event: 'task_completed', event_id: 'e', title: 'Ship it' }).body).toBe(
      'The task “Ship it” is completed.',
    );
  });

  it('an announcement in Slack mentions nobody and contains no markup from its text', () => {
    const text = noticeSlack(told);
    expect(text).toContain('&lt;!channel&gt; &amp; &lt;https://evil.example|this&gt; Bcc');
    expect(text.replaceAll(/&(?:lt|gt|amp);/g, '')).not.toMatch(/[<>]/);
  });

  it('the subject of an announcement mail stays on one line', () => {
    const { subject, text } = noticeMail(told, 'Bank\nX: y');
    expect(subject).not.toMatch(/[\r\n]/);
    expect(subject.length).toBeLessThanOrEqual(150);
    expect(text).toContain('-- \nBank X: y.');
  });

  it('an announcement stays short when its title and note are long', () => {
    const long = { ...told, title: 'x'.repeat(10_000), note: 'y'.repeat(10_000) };
    expect(noticeText(long).body.length).toBeLessThan(2_000);
    expect(noticeSlack(long).length).toBeLessThanOrEqual(4_000);
  });
});
