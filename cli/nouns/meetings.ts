/**
 * The commands of `meetings`: your meetings with transcripts, summaries and tasks. All of them need a login, because
 * meetings belong to a person.
 */
import { z } from 'zod';
import { command, listing, noun, steps } from '../described.ts';
import { usageError } from '../errors.ts';
import { wrap } from '../output.ts';
import { readAll } from '../prompt.ts';
import { openFile } from '../upload.ts';
import { taskColumns } from './tasks.ts';
import * as contract from '../../api/interviews/contract/meetings.ts';
import * as tasks from '../../api/tasks/contract/tasks.ts';

const example = 'mtg_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const { settings, ...createFields } = contract.createMeetingBody.shape;
const settingNames = Object.keys(settings.unwrap().shape);

/**
 * Parses transcript segments: JSON, or lines like `Ada: I will call the bank.`, whose times are one second apart. A
 * line without a name continues the line before. Ids are line numbers, so sending the same file again adds nothing.
 */
function segmentsOf(text: string, since: Date): unknown[] {
  if (/^\s*[[{]/.test(text)) {
    try {
      const json = JSON.parse(text) as unknown[] | { segments: unknown[] };
      return Array.isArray(json) ? json : json.segments;
    } catch {
      throw usageError('The file begins like JSON and is none.');
    }
  }
  const segments: { id: string; speaker: string; text: string; timestamp: string }[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const [, speaker, said] = /^\s*([^:]{1,200}?)\s*:\s+(.*\S)\s*$/.exec(line) ?? [];
    const last = segments.at(-1);
    if (speaker !== undefined && said !== undefined) {
      const timestamp = new Date(since.getTime() + segments.length * 1000).toISOString();
      segments.push({ id: `line-${at + 1}`, speaker, text: said, timestamp });
    } else if (last && line.trim() !== '') last.text += ` ${line.trim()}`;
  }
  if (segments.length === 0) throw usageError('No line of this says who spoke, like “Ada: I will call the bank.”');
  return segments;
}

export const meetings = noun({
  name: 'meetings',
  description: 'list and create meetings, add their transcripts, summarize them and find their tasks',
  login: true,
  names: { id: 'meeting', sessionId: 'meeting' },
  example,
  commands: [
    listing({
      name: 'list',
      description: 'list your meetings, newest first',
      does: contract.listMeetings,
      entries: 'meetings',
      columns: {
        MEETING: (meeting) => meeting.meeting_id,
        STATUS: (meeting) => meeting.status,
        STARTED: (meeting) => meeting.started_at,
        ENDED: (meeting) => meeting.ended_at,
        PEOPLE: (meeting) => meeting.participant_count,
        SUMMARY: (meeting) => meeting.has_summary,
        TITLE: (meeting) => meeting.title,
      },
      none: 'There are no meetings yet: create one with meetings create.',
    }),
    command({
      name: 'show',
      description: 'show a meeting with its transcript',
      does: contract.getMeeting,
    }),
    command({
      name: 'create',
      description: 'create a meeting; it is active at once',
      examples: ['create --title "Weekly planning" --timezone Europe/Berlin'],
      does: contract.createMeeting,
      fields: {
        of: z.strictObject({ ...createFields, ...settings.unwrap().shape }),
        body: (given) => {
          const names = Object.keys(given);
          const of = (those: string[]) => Object.fromEntries(those.map((name) => [name, given[name]]));
          const chosen = names.filter((name) => settingNames.includes(name));
          const others = names.filter((name) => !settingNames.includes(name));
          return { ...of(others), ...(chosen.length > 0 ? { settings: of(chosen) } : {}) };
        },
      },
      lines: ({ meeting_id }) => [`Created ${meeting_id}`],
    }),
    command({
      name: 'rename',
      description: 'change the title of a meeting',
      examples: [`rename ${example} "Planning in May"`],
      does: contract.renameMeeting,
      args: { title: 'its new title' },
      lines: ({ meeting_id, title }) => [`${meeting_id} is now “${title}”`],
    }),
    command({
      name: 'set',
      description: 'change settings of an active meeting; the rest stays',
      examples: [`set ${example} --timezone Europe/Berlin --no-proactive-suggest`],
      does: contract.updateMeetingSettings,
    }),
    steps({
      name: 'add',
      description: 'add a transcript: lines like "Ada: I will call the bank." or the segments as JSON',
      examples: [`add ${example} transcript.txt`, `add ${example} transcript.txt --since 2030-01-31T09:30:00Z`],
      does: contract.addTranscript,
      args: { file: 'a file; - reads stdin' },
      fields: {
        of: z.strictObject({
          since: z.iso
            .datetime({ offset: true })
            .optional()
            .meta({ description: 'when the first line was said; now unless told' }),
        }),
        body: () => undefined,
      },
      async runs(session, { id, file, since }) {
        const text = file === '-' ? await readAll(session.stdin) : await (await openFile(file as string)).text();
        const segments = segmentsOf(text, since === undefined ? new Date() : new Date(since as string));
        const client = await session.member();
        const body = { segments };
        const reply = await client.request('POST', `/meetings/${String(id)}/transcript`, contract.transcriptReply, {
          body,
        });
        session.output.result(reply, () => [`${reply.accepted} of ${segments.length} segments are new`]);
      },
    }),
    command({
      name: 'end',
      description: 'end a meeting',
      does: contract.endMeeting,
      lines: ({ meeting_id, status }) => [`${meeting_id} is ${status}`],
    }),
    command({
      name: 'summary',
      description: 'summarize a meeting',
      examples: [`summary ${example}`, `summary ${example} --length long`],
      does: contract.summarizeMeeting,
      names: { mode: 'length' },
      lines: ({ summary }, _, width) => wrap(summary, width),
    }),
    command({
      name: 'rm',
      description: 'delete a meeting with its transcript, summary and tasks',
      does: contract.deleteMeeting,
      lines: ({ meeting_id }) => [`Deleted ${meeting_id}`],
    }),
    command({
      name: 'find-tasks',
      description: 'find the tasks that a transcript speaks of; they become tasks of the organization',
      does: tasks.extractTasks,
      fields: { of: z.strictObject({}), body: async (_, session) => ({ org_id: await session.orgId('member') }) },
      lines: ({ created, tasks: found }) => [
        `${created} new, ${found.length} in all`,
        ...found.map(({ task_id, title }) => `  ${task_id}  ${title}`),
      ],
    }),
    listing({
      name: 'tasks',
      description: 'list the tasks of a meeting',
      does: tasks.listMeetingTasks,
      entries: 'tasks',
      columns: taskColumns,
      none: 'There are no tasks of this meeting: find them with meetings find-tasks.',
    }),
  ],
});
