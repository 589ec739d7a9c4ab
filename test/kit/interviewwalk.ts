/**
 * Random walks: members, candidates and rooms send any operation at any time. Each answer is compared with a model, the
 * transition table `next`. A seed determines the walk.
 */
import { expect } from '@jest/globals';
import { said, until, type Reply } from './harness.ts';
import type { interviewing } from './interviewing.ts';
import { randomNumbers } from './random.ts';
import { isFinal, next, type InterviewStatus, type Operation } from '../../models/rules/interviews/interview.ts';

type Kit = Awaited<ReturnType<typeof interviewing>>;
type Member = ReturnType<Kit['of']>;

const asked: Partial<Record<Operation, [method: string, path: string, body?: object]>> = {
  update: ['PUT', '', { skills: ['SQL'] }],
  schedule: ['PUT', '', { scheduled_at: new Date(Date.now() + 30 * 86_400_000).toISOString() }],
  start: ['POST', '/start'],
  rejoin: ['POST', '/rejoin'],
  end: ['POST', '/end'],
  evaluate: ['POST', '/evaluate'],
  score: ['POST', '/generate-score'],
  decide: ['PUT', '/decision', { decision: 'hire' }],
  scorecard: ['PUT', '/scorecard', { criteria: {} }],
  cancel: ['POST', '/cancel', { reason: 'A reason.' }],
};
/** Operations that end an interview are rare, so that walks become long. */
const steps: readonly Operation[] = [
  ...([
    'update',
    'schedule',
    'start',
    'start',
    'rejoin',
    'end',
    'end',
    'evaluate',
    'score',
    'decide',
    'scorecard',
    'cancel',
  ] as const),
  ...(['join', 'join', 'join', 'refuse'] as const),
];

/**
 * The state to which an operation leads according to the table. An interview that is already scheduled stays scheduled
 * when its time is set again.
 */
const expected = (status: InterviewStatus, operation: Operation): InterviewStatus | undefined =>
  operation === 'schedule' && status === 'scheduled' ? 'scheduled' : next(status, operation);
/** The status changes that an operation adds to the history. */
function movesOf(status: InterviewStatus, operation: Operation): Operation[] {
  if (['update', 'decide', 'scorecard'].includes(operation) || (operation === 'schedule' && status === 'scheduled'))
    return [];
  return operation === 'start' && status === 'draft' ? ['schedule', 'start'] : [operation];
}

async function ask(kit: Kit, mine: Member, id: string, operation: Operation): Promise<'done' | Reply> {
  if (operation === 'join' || operation === 'refuse') {
    const refused = { status: 409, headers: new Headers(), body: { code: 'ILLEGAL_TRANSITION' } };
    return kit.room(id, operation).then(
      () => 'done' as const,
      () => refused,
    );
  }
  const [method, path, body] = asked[operation]!;
  const reply = await mine.call(method, `/${id}${path}`, body);
  return reply.status === 200 ? 'done' : reply;
}

/** Performs `count` random operations in one organization. */
export async function walk(kit: Kit, mine: Member, seed: number, count: number): Promise<void> {
  const random = randomNumbers(seed);
  let id = '';
  let status: InterviewStatus = 'cancelled';
  let moves: Operation[] = [];
  for (let step = 0; step < count; step += 1) {
    if (id === '' || (isFinal(status) && random() < 0.5)) {
      id = await mine.create({ question_count: 2 });
      await mine.answer(id);
      [status, moves] = ['draft', []];
    }
    const operation = steps[Math.floor(random() * steps.length)]!;
    const to = expected(status, operation);
    const outcome = await ask(kit, mine, id, operation);
    const where = `seed ${seed}, step ${step}: ${operation} from ${status}`;
    if (to === undefined) {
      expect([where, outcome === 'done' ? 'done' : outcome.body.code]).toEqual([where, 'ILLEGAL_TRANSITION']);
    } else {
      expect([where, outcome === 'done' ? 'done' : said(outcome)]).toEqual([where, 'done']);
      moves.push(...movesOf(status, operation));
      status = to;
    }
    // A time is stored at once. The workflow may be told later, when it does not answer in time on a busy machine.
    const seen = await until(async () => {
      const interview = await mine.get(id);
      return operation !== 'schedule' || interview.status === status ? interview : undefined;
    }, where);
    expect([where, seen.status, seen.history.map((one) => one.operation)]).toEqual([where, status, moves]);
  }
}
