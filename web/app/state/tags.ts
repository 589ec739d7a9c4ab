/** The tags that the team uses, and their colours. */
import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { listTeamTags, setTeamTags } from '../api/operations.ts';
import { orgId } from './session.ts';
import { attempt } from './toast.ts';

type Reply = NonNullable<NonNullable<(typeof listTeamTags)['types']>['reply']>;
export type TeamTag = Reply['tags'][number];

export const teamTags = signal<readonly TeamTag[]>([]);
export const colourOf = (name: string): string => teamTags.value.find((tag) => tag.name === name)?.colour ?? 'grey';

const params = () => ({ orgId: orgId.value });

export const readTags = (): Promise<boolean> =>
  attempt(async () => (teamTags.value = (await call(listTeamTags, { params: params() })).tags));

/** @throws CallError */
export async function saveTags(tags: TeamTag[]): Promise<void> {
  teamTags.value = (await call(setTeamTags, { params: params(), body: { tags } })).tags;
}
