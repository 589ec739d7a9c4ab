/** The commands of `interviews`: from the draft to the decision. All of them need a login. */
import { basename } from 'node:path';
import { command, listing, noun, steps } from '../described.ts';
import { record, shortTime } from '../output.ts';
import { openFile } from '../upload.ts';
import * as aids from '../../api/interviews/contract/interviewaids.ts';
import * as contract from '../../api/interviews/contract/interviews.ts';
import type { z } from 'zod';

const example = 'int_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
/** The field `mode` needs another option name, because `--mode` means test or live data everywhere. */
const names = { mode: 'led-by' };

type Item = z.infer<typeof contract.interviewItem>;
const columns = {
  INTERVIEW: (each: Item) => each.interview_id,
  STATUS: (each: Item) => each.status,
  MODE: (each: Item) => each.mode,
  SCHEDULED: (each: Item) => each.scheduled_at,
  SCORE: (each: Item) => each.overall_score,
  DECISION: (each: Item) => each.decision?.decision,
  CANDIDATE: (each: Item) => each.candidate.name ?? each.candidate.email,
  ROLE: (each: Item) => each.role_title,
};

/** Prints a status change of an interview. */
const moved = ({ interview_id, status, room }: z.infer<typeof contract.interviewRecord>): string[] => [
  `${interview_id} is ${status}`,
  ...(room ? [`candidate    ${room.candidate_url}`, `interviewer  ${room.interviewer_url}`] : []),
];
const move = (
  name: string,
  description: string,
  does: typeof contract.rejoinInterview | typeof contract.endInterview,
) => command({ name, description, does, lines: moved });

export const interviews = noun({
  name: 'interviews',
  description: 'prepare, hold, score and decide interviews',
  login: true,
  example,
  commands: [
    listing({
      name: 'list',
      description: 'list interviews, newest first',
      examples: ['list --status scheduled'],
      does: contract.listInterviews,
      entries: 'interviews',
      columns,
      none: 'There are no such interviews.',
    }),
    command({
      name: 'show',
      description: 'show an interview with its questions, transcript, evaluation and history',
      does: contract.getInterview,
    }),
    listing({
      name: 'related',
      description: 'list other interviews of the same candidate or role',
      does: contract.listRelatedInterviews,
      entries: 'interviews',
      columns: { ...columns, BY: (each) => each.related_by },
      none: 'There are no related interviews.',
    }),
    command({
      name: 'draft',
      description: 'draft an interview from your own words; nothing is stored',
      examples: ['draft "A senior Go developer, 45 minutes, tomorrow at 10:30" --timezone Europe/Berlin'],
      does: aids.draftInterview,
      args: { prompt: 'what you want, in quotes' },
    }),
    command({
      name: 'questions',
      description: 'generate questions; nothing is stored',
      examples: [
        'questions "Go developer" --job-description "Builds services." --required-skills go --experience-level senior',
      ],
      does: aids.generateQuestions,
      args: { title: 'the role, in quotes' },
      lines: ({ questions }) => questions.map(({ category, body }) => `${category}: ${body}`),
    }),
    command({
      name: 'create',
      description: 'create an interview',
      examples: ['create "Go developer" --skills go,mongodb --candidate-email grace@example.com'],
      does: contract.createInterview,
      args: { role_title: 'the role, in quotes' },
      names,
      lines: ({ interview_id, status, role_title }) => [`Created ${interview_id}  ${status}  ${role_title}`],
    }),
    command({
      name: 'update',
      description: 'change what is named before the interview starts; the rest stays',
      examples: [`update ${example} --scheduled-at 2030-01-31T09:30:00Z`],
      does: contract.updateInterview,
      names,
      keepsValues: true,
    }),
    steps({
      name: 'resume',
      description: 'add the resume of the candidate (PDF or DOCX); questions take it up',
      examples: [`resume ${example} resume.pdf`],
      does: contract.uploadResume,
      args: { file: 'a PDF or DOCX file' },
      async runs(session, { interviewId, file }) {
        const data = new FormData();
        data.append('file', await openFile(file as string), basename(file as string));
        const at = `/orgs/${await session.orgId('member')}/interviews/${String(interviewId)}/resume`;
        const reply = await (await session.member()).request('POST', at, contract.interviewRecord, { form: { data } });
        session.output.result(reply, () => record(reply.candidate, session.output.width));
      },
    }),
    command({
      name: 'start',
      description: 'start an interview: send the bot, or open the room',
      does: contract.startInterview,
      lines: moved,
    }),
    move('rejoin', 'send the bot again after a disconnect', contract.rejoinInterview),
    move('end', 'end an interview; its questions and answers are summed up', contract.endInterview),
    command({
      name: 'cancel',
      description: 'cancel an interview',
      examples: [`cancel ${example} --reason "The candidate is ill."`],
      does: contract.cancelInterview,
      lines: moved,
    }),
    command({
      name: 'evaluate',
      description: 'sum up the questions and answers again',
      does: contract.evaluateInterview,
      lines: ({ qa_summary }, _, width) => record(qa_summary ?? {}, width),
    }),
    command({
      name: 'score',
      description: 'score an interview by its criteria',
      does: contract.scoreInterview,
      lines: ({ evaluation }, _, width) => record(evaluation ?? {}, width),
    }),
    command({
      name: 'decide',
      description: 'record the decision',
      examples: [`decide ${example} hire --notes "Strong in Go."`],
      does: contract.decideInterview,
      args: { decision: 'what is decided' },
      lines: ({ interview_id, decision }) => [
        `${interview_id}: ${decision?.decision}, ${shortTime(decision?.decided_at ?? null)}`,
      ],
    }),
    command({
      name: 'rate',
      description: 'give the candidate your own numbers, from 0 to 10',
      examples: [`rate ${example} --criteria '{"Go":8}' --notes "Strong in Go."`],
      does: contract.scoreByHand,
      lines: ({ interview_id, scorecards }) => [
        `${interview_id}: rated by ${scorecards.map(({ name }) => name).join(', ')}`,
      ],
    }),
    command({
      name: 'rm',
      description: 'delete an interview',
      does: contract.deleteInterview,
      lines: ({ interview_id }) => [`Deleted ${interview_id}`],
    }),
  ],
});
