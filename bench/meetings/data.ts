/** Labelled meetings for bench/meetings.ts: real ones, with the actions that annotators noted, and written ones. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Said } from '../../models/rules/interviews/transcript.ts';

type Common = { id: string; speakers: string[]; segments: { speaker: string; text: string }[] };
export type Action = { text: string; owners: string[]; lines: number[] };
export type Real = Common & { kind: 'ami'; team: string; actions: Action[]; abstract: string; extract: string };
export type LabelledTask = { title: string; assignee: string | null; due: string[]; lines: number[] };
export type Written = Common & {
  kind: 'written';
  tasks: LabelledTask[];
  non_tasks: { lines: number[] }[];
  facts: { pattern: string }[];
};
export type Meeting = Real | Written;

export async function readMeetings(folder: string): Promise<Meeting[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Meeting));
}

/** The team of a meeting. Each written meeting counts as its own team. */
export const teamOf = (meeting: Meeting): string => (meeting.kind === 'ami' ? meeting.team : meeting.id);

export const saidIn = ({ segments }: Meeting): Said[] =>
  segments.map(({ speaker, text }, n) => ({ id: String(n), speaker, text, at: new Date(n * 10_000), is_ai: false }));

/** The speakers of a meeting as members of the organization. */
export const membersOf = ({ speakers }: Meeting) =>
  speakers.map((name) => ({ userId: name, name, email: `${name.toLowerCase()}@example.com` }));
