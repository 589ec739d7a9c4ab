/**
 * Tasks found in a transcript without a model: in single lines and in talks whose sentences form one task, and lines
 * that contain no task.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findTasks } from '../../../intelligence/offline/meetings/tasks.ts';
import { extractionBounds, type PossibleReason } from '../../../models/rules/interviews/found.ts';
import type { Priority } from '../../../models/rules/base/priority.ts';

/** The start of the meeting, a Wednesday. */
const startedAt = new Date('2026-11-18T10:00:00Z');
const members = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { userId: 'bob', name: 'Bob Miller', email: 'bob@example.com' },
  { userId: 'carol', name: 'Carol Danvers', email: 'carol@example.com' },
];
const days: Record<string, string> = {
  today: '2026-11-18',
  wed: '2026-11-18',
  tomorrow: '2026-11-19',
  thu: '2026-11-19',
  fri: '2026-11-20',
  eow: '2026-11-20',
  sat: '2026-11-21',
  '+3': '2026-11-21',
  mon: '2026-11-23',
  tue: '2026-11-24',
  eom: '2026-11-30',
};

type Spoken = readonly (readonly [speaker: string, text: string])[];
const read = (lines: Spoken) =>
  findTasks(
    lines.map(([speaker, text], n) => ({ id: `s${n}`, speaker, text, at: new Date(n), is_ai: speaker === 'Lira' })),
    { members, startedAt, zone: 'UTC' },
  );
/** Further people in the room, so that no task is assigned to the only other person. */
const others: Spoken = [
  ['Zoe', 'Hm.'],
  ['Yan', 'Hm.'],
];
/** Parses lines of the form `Ada: some words`. */
const talk = (...lines: string[]): Spoken =>
  lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const);
/** The titles of the tasks found in a talk, each with its assignee and due date. */
const tasksIn = (...lines: string[]) =>
  read([...talk(...lines), ...others]).tasks.map(({ title, owner, due }) => [title, owner, due?.slice(0, 10)]);

/** `known`: the line has a task that is not found yet; the test fails once it is found. */
type Wanted = { who: string | null; has: string; due?: string; priority?: Priority; known?: 'missed' };
type Line = [speaker: string, text: string, wanted: Wanted | null];
const lines = JSON.parse(readFileSync(new URL('../../fixtures/tasks/lines.json', import.meta.url), 'utf8')) as Line[];

describe('a line of a transcript', () => {
  it.each(lines)('the line “%s: %s” gives the task %j (null: no task)', (speaker, text, wanted) => {
    const { tasks, possible } = read([[speaker, text], ...others]);
    if (wanted === null || wanted.who === null || wanted.known === 'missed') {
      expect(tasks).toEqual([]);
      // A task without an owner is listed as possible, for a person to decide.
      if (wanted?.who === null)
        expect(possible).toMatchObject([{ speaker, reason: expect.stringMatching(/no_owner|suggestion/) }]);
      return;
    }
    expect(tasks).toMatchObject([
      { segment: 's0', priority: wanted.priority ?? 'medium', assignee: { userId: wanted.who } },
    ]);
    const [{ title, due, quote }] = tasks as [(typeof tasks)[number]];
    expect(title.toLowerCase()).toContain(wanted.has);
    expect(due?.slice(0, 10)).toBe(wanted.due === undefined ? undefined : days[wanted.due]);
    expect(text).toContain(quote);
  });
});

describe('a request and its answer', () => {
  it.each<[string, string[], ReturnType<typeof tasksIn>]>([
    [
      'is the task of whoever is asked and agrees',
      ['Ada: Could somebody proofread the flyer?', 'Ada: Bob, could you do that?', 'Bob: Sure.'],
      [['Proofread the flyer', 'Bob', undefined]],
    ],
    [
      'to nobody in particular is the task of the person who takes it on, due on the day that this person names',
      ['Ada: Somebody has to renew the certificate.', "Carol: I'll do that by Friday.", 'Bob: Good.'],
      [['Renew the certificate', 'Carol', '2026-11-20']],
    ],
    [
      'is the task of a volunteer',
      ['Ada: Who can water the plants in the hall?', 'Carol: Me.', 'Ada: Thanks.'],
      [['Water the plants in the hall', 'Carol', undefined]],
    ],
    [
      'has the date that is said last',
      ['Ada: Bob, can you call the plumber?', 'Bob: Okay. Until when?', 'Ada: By Monday, please.'],
      [['Call the plumber', 'Bob', '2026-11-23']],
    ],
    [
      'is the task of the person to whom the first one passes it on',
      ['Ada: Carol, can you translate the manual?', "Carol: I'm swamped. Maybe Bob?", 'Bob: Okay, by Friday.'],
      [['Translate the manual', 'Bob', '2026-11-20']],
    ],
    [
      'is the task of another person when it is given to that person later',
      [
        'Ada: Bob, please prepare the audit folder by Friday.',
        'Bob: Okay.',
        'Carol: How was the trip?',
        'Bob: Long.',
        'Ada: Actually, let Carol prepare the audit folder.',
        'Carol: Sure.',
      ],
      [['Prepare the audit folder', 'Carol', '2026-11-20']],
    ],
    [
      'is one task when the answer says it in other words',
      ['Ada: Bob, could you answer the supplier?', "Bob: Yes, I'll answer them tomorrow."],
      [['Answer the supplier', 'Bob', '2026-11-19']],
    ],
    [
      'is a task when an offer is welcome',
      ['Bob: Should I invite the new colleague?', 'Ada: Yes, please.'],
      [['Invite the new colleague', 'Bob', undefined]],
    ],
    [
      'is two tasks when two are asked in one sentence',
      ['Ada: Bob, can you draft the contract and, Carol, can you proofread it?', 'Bob: Yes.', 'Carol: Sure.'],
      [
        ['Draft the contract', 'Bob', undefined],
        ['Proofread the contract', 'Carol', undefined],
      ],
    ],
    [
      'has a title in which “it” is replaced by what was named before',
      ['Ada: The brochure has a wrong number.', "Bob: My fault. I'll correct it this evening."],
      [['Correct the brochure', 'Bob', '2026-11-18']],
    ],
  ])('tasks are found in a spoken request together with the lines around it: the request %s', (_, spoken, wanted) => {
    expect(tasksIn(...spoken)).toEqual(wanted);
  });

  it('in a talk of two people, a request becomes a task of the person who did not make the request', () => {
    const { tasks } = read(talk('Ada: Could you check the invoice?', 'Bob: Hm, let me think.'));
    expect(tasks).toMatchObject([{ title: 'Check the invoice', assignee: { userId: 'bob' } }]);
  });

  it('a task that is mentioned twice in a meeting is found once, with the details of both sentences', () => {
    const { tasks } = read(
      talk("Bob: I'll send the budget sheet.", 'Ada: Great.', 'Ada: So Bob will send the budget sheet by Friday.'),
    );
    expect(tasks).toMatchObject([{ segment: 's0', assignee: { userId: 'bob' }, due: '2026-11-20' }]);
  });
});

describe('uncertain tasks', () => {
  it.each<[PossibleReason, string[]]>([
    ['no_owner', ['Ada: The privacy page has to be updated by Monday.']],
    ['no_owner', ['Ada: Everyone needs to fill in the survey by Friday.', 'Bob: Okay, sure.']],
    ['suggestion', ['Ada: We should redesign the order form.', 'Bob: Hm.']],
    ['unresolved', ['Ada: Morning.', "Bob: I'll send it."]],
    ['in_meeting', ["Bob: I'll show you the chart."]],
    ['in_meeting', ["Bob: I'll change the address while we talk."]],
    ['in_meeting', ['Ada: Bob, please add the room to the invitation.', 'Bob: Done.']],
    ['not_accepted', ['Bob: Should I order new paper for the printer?', 'Ada: Hm.']],
    ['refused', ['Ada: Carol, could you check the invoice?', "Carol: Sorry, I can't."]],
    ['refused', ['Ada: Carol, could you check the invoice?', 'Carol: Not this week, I have the audit.']],
    ['refused', ["Bob: I'll order the chairs tomorrow.", 'Ada: No need, the old ones are fine.']],
    ['uncertain', ["Bob: I'll call the lawyer if they complain again."]],
  ])('an uncertain task is only listed as possible, with the reason %s: %j', (reason, spoken) => {
    const { tasks, possible } = read([...talk(...spoken), ...others]);
    expect(tasks).toEqual([]);
    expect(possible).toMatchObject([{ reason }]);
    const [{ quote, speaker }] = possible as [(typeof possible)[number]];
    expect(spoken.some((line) => line.startsWith(`${speaker}: `) && line.includes(quote))).toBe(true);
  });

  it.each([
    ['what was said by others', ['Ada: The customer said, please send me a new invoice.']],
    ['what is done already', ['Bob: I already sent the invoice to the bank.']],
    ['what depends on an if', ['Bob: If that fails, I will restart the server.']],
    ['what somebody says in German', ['Ada: Ich schicke dir das Angebot bis Freitag.', 'Bob: Danke.']],
    ['what somebody says in French', ['Ada: Je vais envoyer le devis demain.', 'Bob: Merci.']],
    ['what somebody says in Spanish', ['Ada: Voy a enviar la oferta mañana.', 'Bob: Gracias.']],
  ])('in a meeting, %s gives no task and no possible task', (_, spoken) => {
    expect(read([...talk(...spoken), ...others])).toEqual({ tasks: [], possible: [] });
  });

  it('the list of possible tasks of a meeting has a maximum length', () => {
    const { possible } = read(
      Array.from({ length: 26 }, (_, n) => {
        const word = String.fromCodePoint(97 + n).repeat(5);
        return ['Ada', `Somebody has to check the ${word} in hall ${word}${word}.`] as const;
      }),
    );
    expect(possible).toHaveLength(extractionBounds.possible);
  });
});

describe('a task', () => {
  it('each of two promises in one sentence becomes a task with its own words', () => {
    expect(
      read(talk('Ada: I will send the agenda by Friday and Bob will book the room for Monday.')).tasks,
    ).toMatchObject([
      {
        title: 'Send the agenda',
        assignee: { userId: 'ada' },
        due: '2026-11-20',
        quote: 'I will send the agenda by Friday',
      },
      { title: 'Book the room', assignee: { userId: 'bob' }, due: '2026-11-23' },
    ]);
  });

  it('the due date and urgency of a task may come from a short sentence after the task', () => {
    expect(
      read(
        talk('Bob: I will update the price list. The deadline is Friday.', 'Ada: Carol will call legal. It is urgent!'),
      ).tasks,
    ).toMatchObject([{ due: '2026-11-20' }, { priority: 'urgent', assignee: { userId: 'carol' } }]);
  });

  it('the title of a task has no filler words such as “um” and no false starts', () => {
    const { tasks } = read(talk("Bob: Um so I'll I'll uh send the the re report to the bank by Friday."));
    expect(tasks).toMatchObject([{ title: 'Send the report to the bank' }]);
  });

  it('a task of a person who is named only by a role has that role as its owner', () => {
    const { tasks } = read([...talk('Ada: The account manager will send the offer by Friday.'), ...others]);
    expect(tasks).toMatchObject([{ title: 'Send the offer', owner: 'The account manager' }]);
    expect(tasks[0]!.assignee).toBeUndefined();
  });

  it('the assistant’s words become no task, and a person outside the organization is assigned only by e-mail address', () => {
    const { tasks } = read([
      ['Lira', 'I will send the notes by Friday.'],
      ['Eve Stranger', 'I will send the notes by Monday.'],
      ['eve@partner.example', 'I will sign the contract.'],
    ]);
    expect(tasks.map(({ assignee }) => assignee)).toEqual([undefined, { email: 'eve@partner.example' }]);
  });

  it('tasks are found in linear time in transcripts of any length and form', () => {
    const long = `I will ${'send '.repeat(1_500)}it by ${'and Bob will '.repeat(200)}call`;
    const hard = [
      'the of '.repeat(80),
      'a a b '.repeat(900),
      'th the '.repeat(900),
      '“a ”'.repeat(1_000),
      'Ada, '.repeat(900),
    ].map((text) => ['Bob', `${text}x it.`] as const);
    const tokens = Array.from({ length: 300 }, () => ['Bob', "a'".repeat(5_000)] as const);
    const many = Array.from(
      { length: 3_000 },
      (_, n) => ['Ada', `I will send sheet number ${n} to team ${n} and please call ${n}.`] as const,
    );
    expect(
      read([
        ['Ada', long],
        ['Bob', 'please '.repeat(1_400)],
        ['Bob', `${'must be '.repeat(70)}x`],
        ...hard,
        ...tokens,
        ...many,
      ]).tasks.length,
    ).toBeLessThanOrEqual(extractionBounds.tasks);
  });
});
