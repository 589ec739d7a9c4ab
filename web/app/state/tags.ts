/** The tags that the team uses, and their colours. */
import { computed, signal } from '@preact/signals';
import { call, type ReplyOf } from '../api/call.ts';
import { listTeamTags, setTeamTags } from '../../../api/chat/contract/tags.ts';
import { orgId } from './session.ts';
import { attempt } from './toast.ts';

type Reply = ReplyOf<typeof listTeamTags>;
export type TeamTag = Reply['tags'][number];

/** The tags that were read, by organization, so that one organization's tags are never taken for another's. */
const read = signal<ReadonlyMap<string, readonly TeamTag[]>>(new Map());
export const teamTags = computed(() => read.value.get(orgId.value) ?? []);
export const colourOf = (name: string): string => teamTags.value.find((tag) => tag.name === name)?.colour ?? 'grey';

type At = { orgId: string };

async function keep({ orgId: id }: At, reply: Promise<Reply>): Promise<TeamTag[]> {
  const { tags } = await reply;
  read.value = new Map(read.value).set(id, tags);
  return tags;
}

export function readTags(): Promise<boolean> {
  const params = { orgId: orgId.value };
  return attempt(() => keep(params, call(listTeamTags, { params })));
}

/**
 * Changes the tags. A change replaces the whole list on the server. So the list is read again right before, to keep
 * what other members have changed meanwhile.
 * @throws CallError
 */
export async function changeTags(change: (tags: readonly TeamTag[]) => TeamTag[]): Promise<void> {
  const params = { orgId: orgId.value };
  const standing = await keep(params, call(listTeamTags, { params }));
  await keep(params, call(setTeamTags, { params, body: { tags: change(standing) } }));
}
