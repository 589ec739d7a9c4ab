/**
 * Acts on interviews for tests: over HTTP as a member, and through the workflow as the room, which also stores what is
 * said.
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { Db } from 'mongodb';
import { openClient } from './database.ts';
import { apiAt, said, until, type Api, type Reply, type TestOrg } from './harness.ts';
import type { SystemEnv } from './processes.ts';
import type { InterviewStatus, Operation } from '../../models/rules/interviews/interview.ts';
import { interviewWorkflowId } from '../../models/rules/interviews/work.ts';
import { interviewUpdates, type InterviewCommand } from '../../workflows/interviews/interview.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The parts of an interview record that tests read. */
type View = {
  interview_id: string;
  status: InterviewStatus;
  history: {
    from: InterviewStatus;
    to: InterviewStatus;
    operation: Operation;
    actor: string;
    cause?: string;
    reason?: string;
  }[];
  questions: { question_id: string; body: string }[];
  failure: { reason: string } | null;
};

export const goodAnswer = (n: number): string =>
  `In ${2010 + n} I led the migration of service number ${n}, because its reports took ${n + 20} minutes. We measured each step, built a new index, and reduced the time to ${n + 5} seconds.`;

export async function interviewing(env: SystemEnv, url = process.env['TEST_API_URL']!) {
  const api: Api = apiAt(url);
  const mongo = await openClient(env['MONGODB_URI']!);
  const connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  const temporal = new Client({ connection });
  const db: Db = mongo.db();

  /** The actions of a member of `org`. */
  function of(org: TestOrg) {
    const call = (method: string, path = '', body?: unknown, headers?: Record<string, string>): Promise<Reply> =>
      api.request(method, `/orgs/${org.orgId}/interviews${path}`, {
        token: org.owner.token,
        ...defined({ body, headers }),
      });
    const get = async (id: string): Promise<View> => (await call('GET', `/${id}`)).body.data as View;
    async function create(body: object = {}): Promise<string> {
      const reply = await call('POST', '', { role_title: 'Data Engineer', question_count: 3, ...body });
      if (reply.status !== 201) throw new Error(`create: ${reply.status} ${JSON.stringify(reply.body)}`);
      return reply.body.data.interview_id as string;
    }
    /** Waits until the interview is in this state. */
    const reached = (id: string, status: InterviewStatus) =>
      until(async () => {
        const seen = await get(id);
        return seen.status === status ? seen : undefined;
      }, `interview ${id} to be ${status}`);
    /** Stores answers of the candidate, as the room does. */
    async function answer(id: string, answers?: readonly string[]): Promise<void> {
      const { questions } = await get(id);
      const texts = answers ?? questions.map((_, n) => goodAnswer(n));
      const segments = texts.map((text, n) => ({
        _id: `${id}:a${n}`,
        stream: id,
        id: `a${n}`,
        speaker: 'Candidate',
        text,
        at: new Date(),
        is_ai: false,
        role: 'candidate',
        question_id: questions[n % questions.length]!.question_id,
        place: randomUUID(),
      }));
      await db.collection<{ _id: string }>('transcript_segments').insertMany(segments);
    }
    /**
     * Sends an operation and waits for its state. A busy machine may answer 503 although the status change happens
     * later.
     */
    async function move(id: string, path: string, to: InterviewStatus): Promise<void> {
      await until(async () => {
        if ((await get(id)).status === to) return true;
        const reply = await call('POST', `/${id}${path}`);
        if (![200, 409, 503].includes(reply.status)) throw new Error(`${path}: ${said(reply)}`);
        return false;
      }, `${id} to be ${to}`);
    }
    /** Brings an interview into a state by the shortest way. */
    async function bring(status: InterviewStatus, body: object = {}): Promise<string> {
      const future = { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() };
      const id = await create({ ...(status === 'scheduled' ? future : {}), ...body });
      if (status === 'cancelled') await move(id, '/cancel', 'cancelled');
      const steps = {
        draft: 0,
        scheduled: 0,
        cancelled: 0,
        bot_deployed: 1,
        in_progress: 2,
        evaluating: 3,
        completed: 4,
      };
      if (steps[status] > 0) await move(id, '/start', 'bot_deployed');
      if (steps[status] > 1) {
        await room(id, 'join');
        await answer(id);
      }
      if (steps[status] > 2) await move(id, '/end', 'evaluating');
      if (steps[status] > 3) await move(id, '/generate-score', 'completed');
      await reached(id, status);
      return id;
    }
    return { org, call, get, create, reached, answer, bring };
  }

  /** Sends the workflow a command of the room and resolves when the record shows its effect. */
  async function room(id: string, command: InterviewCommand, cause?: string): Promise<void> {
    const { seq } = await temporal.workflow
      .getHandle(interviewWorkflowId(id))
      .executeUpdate(interviewUpdates[command], {
        args: [{ actor: 'candidate', ...defined({ cause }) }],
      });
    const isStored = { _id: id, seq: { $gte: seq } };
    await until(
      async () => (await db.collection<{ _id: string }>('interviews').countDocuments(isStored)) === 1,
      `${command} of ${id} to be stored`,
    );
  }

  return {
    api,
    db,
    temporal,
    of,
    room,
    handle: (id: string) => temporal.workflow.getHandle(interviewWorkflowId(id)),
    async close() {
      await connection.close();
      await mongo.close();
    },
  };
}
