/** Rules of the page `/app` that need no browser. */
import { describe, expect, it } from '@jest/globals';
import type { InboxConversation } from '../../api/chat/contract/inbox.ts';
import { addressOf, readAddress } from '../../web/app/rules/address.ts';
import { fits, order, queryOf, viewOf } from '../../web/app/rules/inbox.ts';
import { isQuiet, span } from '../../web/app/rules/times.ts';
import { longestTitle, mentionsIn, replaced, snoozeTimes, titleOf, wordAt } from '../../web/app/rules/writing.ts';
import { de } from '../../web/app/texts/de.ts';
import { en } from '../../web/app/texts/en.ts';
import { es } from '../../web/app/texts/es.ts';
import { fr } from '../../web/app/texts/fr.ts';

describe('a URL of the page /app', () => {
  it('a URL that is made of a screen, a record and filters is read back as the same screen, record and filters', () => {
    const to = { screen: 'inbox' as const, id: 'conv_1', part: '', filters: { box: 'all', tag: 'a&b=c é' } };
    const [path, search = ''] = addressOf(to).split('?');
    expect(readAddress(path!, `?${search}`)).toEqual(to);
  });

  it('a URL of an unknown screen opens the inbox, and an invalid percent-escape in a URL is ignored', () => {
    expect(readAddress('/app/nowhere', '')).toMatchObject({ screen: 'inbox' });
    expect(readAddress('/app/inbox/%E0%A4%A', '')).toMatchObject({ screen: 'inbox', id: '' });
  });
});

describe('a view of the inbox', () => {
  const one = (more: Partial<InboxConversation>) =>
    ({
      conv_id: 'c',
      status: 'open',
      tags: [],
      snoozed: null,
      waiting_since: null,
      assigned_to: null,
      unread: 0,
      ...more,
    }) as InboxConversation;

  it('a conversation’s wait, assignee, snooze, status and tags decide in which inbox views the page lists the conversation', () => {
    const waiting = one({ waiting_since: '2026-01-01T00:00:00.000Z' });
    const boxes = (which: InboxConversation) =>
      ['waiting', 'mine', 'unassigned', 'snoozed', 'resolved', 'all'].filter((box) =>
        fits(which, viewOf({ box }), 'me'),
      );
    expect(boxes(waiting)).toEqual(['waiting', 'unassigned', 'all']);
    expect(boxes({ ...waiting, assigned_to: 'me' })).toEqual(['waiting', 'mine', 'all']);
    expect(boxes({ ...waiting, snoozed: { until: null, by: 'me' } })).toEqual(['snoozed', 'all']);
    expect(boxes(one({ status: 'resolved' }))).toEqual(['resolved', 'all']);
    expect(fits(one({ tags: ['a'] }), viewOf({ box: 'all', tag: 'b' }), 'me')).toBe(false);
    expect(queryOf(viewOf({ box: 'mine', unread: 'true' }))).toEqual({
      assigned_to: 'me',
      snoozed: 'false',
      unread: 'true',
    });
  });

  it('in the view “waiting” the longest wait comes first, and in other views the newest activity', () => {
    const [early, late] = [
      one({ conv_id: 'a', waiting_since: '2026-01-01T00:00:00.000Z', last_message_at: '2026-01-03T00:00:00.000Z' }),
      one({ conv_id: 'b', waiting_since: '2026-01-02T00:00:00.000Z', last_message_at: '2026-01-04T00:00:00.000Z' }),
    ];
    expect([late, early].sort(order(viewOf({ box: 'waiting' })))).toEqual([early, late]);
    expect([early, late].sort(order(viewOf({ box: 'all' })))).toEqual([late, early]);
  });
});

describe('writing', () => {
  it('the word after “/” or “@” at the caret is found and replaced, but not inside an e-mail address', () => {
    const body = 'Hello /tha and more';
    const word = wordAt('/', body, 10)!;
    expect(word).toEqual({ from: 6, to: 10, word: 'tha' });
    expect(replaced(body, word, 'Thank you.')).toEqual({ body: 'Hello Thank you. and more', caret: 16 });
    expect(wordAt('@', 'mail me@x', 9)).toBeUndefined();
    expect(wordAt('@', 'ask @Gr', 7)).toMatchObject({ word: 'Gr' });
  });

  it('members whose names follow “@” are mentioned', () => {
    const members = [
      { user_id: 'u1', name: 'Grace Hopper' },
      { user_id: 'u2', name: 'Ada' },
      { user_id: 'u3', name: '' },
    ];
    expect(mentionsIn('@Grace Hopper, please', members)).toEqual(['u1']);
  });

  it('a mention of a name that begins with another member’s name mentions only the member with the whole name', () => {
    const members = [
      { user_id: 'u1', name: 'Ann' },
      { user_id: 'u2', name: 'Anna Schmidt' },
      { user_id: 'u3', name: 'C. (Support)' },
      { user_id: 'u4', name: 'Anna Schmidt' },
    ];
    expect(mentionsIn('@Anna Schmidt bitte', members)).toEqual(['u2', 'u4']);
    expect(mentionsIn('@Ann, ask @Anna Schmidt and @C. (Support)', members)).toEqual(['u1', 'u2', 'u3', 'u4']);
    // Some languages write an ending at once after a name.
    expect(mentionsIn('@田中さん', [{ user_id: 'u5', name: '田中' }])).toEqual(['u5']);
  });

  it('the title of an article that answers a question is that question in one line, cut to the maximum length', () => {
    expect(titleOf('What does\n a card  cost?')).toBe('What does a card cost?');
    expect(titleOf('x'.repeat(2_000))).toHaveLength(longestTitle);
  });

  it('a member can snooze a conversation for an hour, until tomorrow at nine or until next Monday at nine', () => {
    const times = snoozeTimes(new Date(2026, 10, 26, 16, 30));
    expect([times.hour, times.tomorrow, times.week]).toEqual([
      new Date(2026, 10, 26, 17, 30),
      new Date(2026, 10, 27, 9),
      new Date(2026, 10, 30, 9),
    ]);
    // On a Monday, `week` is the next Monday.
    expect(snoozeTimes(new Date(2026, 10, 30, 8)).week).toEqual(new Date(2026, 11, 7, 9));
  });
});

describe('the texts of the page', () => {
  it.each([
    ['en', en, /customer wrote back/],
    ['de', de, /Kunde hat wieder geschrieben/],
    ['es', es, /cliente volvió a escribir/],
    ['fr', fr, /client a réécrit/],
  ] as const)(
    'in the language %s the page explains the ticket reason “replied” as a customer who wrote back',
    (_, { reasons, settings }, wroteBack) => {
      expect(reasons['replied']).toMatch(wroteBack);
      expect(settings.inviteLink).not.toMatch(/serve[ru]|servidor/i);
    },
  );
});

describe('times', () => {
  it('a time span is shown in its largest unit', () => {
    expect([span(59_000, 'en'), span(3_600_000, 'en'), span(3 * 86_400_000, 'en')]).toEqual([
      '0 min',
      '1 hr',
      '3 days',
    ]);
  });

  it('quiet hours may span midnight, and are read in the time zone that is set with them', () => {
    const night = { from: '22:00', until: '07:00', timezone: 'Europe/Berlin' };
    const at = (iso: string) => isQuiet(night, new Date(iso));
    expect([at('2026-11-26T21:00:00Z'), at('2026-11-26T05:59:00Z'), at('2026-11-26T06:00:00Z')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
