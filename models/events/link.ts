/**
 * What of ours stands behind a thing of another service: a ticket behind an issue, a ticket behind a thread. By it an event
 * of that service finds its way back. Unique by what it stands for there.
 */
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, readerOf, type Together, type RecordOf } from '../base/define.ts';
import { date, mixed, oneOf, optional, string } from '../rules/base/fields.ts';
import { modes } from '../rules/access/keys.ts';
import { integrationProviders, type IntegrationProvider } from '../rules/integrations/integration.ts';
import { defined } from '../rules/base/defined.ts';

const linkKinds = ['ticket', 'task'] as const;
export type LinkKind = (typeof linkKinds)[number];

export const LinkModel = defineModel(
  'Link',
  'links',
  {
    /** `<provider>:<external>`. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    provider: oneOf(integrationProviders),
    /** The issue's id; `<team>:<channel>:<ts>` of a thread. */
    external: string,
    kind: oneOf(linkKinds),
    /** The ticket's or the task's id. */
    subject_id: string,
    /** Of a ticket. */
    conv_id: optional(string),
    customer_id: optional(string),
    /** The task or the ticket, and the customer. */
    about: aboutField,
    /** The state it was last known to be in there, by the provider's id of it. */
    state_id: optional(string),
    /** The time of the last change that an event told of: an event of an earlier one tells nothing new. */
    seen_at: optional(date),
    removed_at: optional(date),
    /** Of a task's issue: what it was last known to say (models/rules/tasks/issues.ts). */
    known: optional(mixed<Record<string, unknown>>()),
    created_at: date,
  },
  [{ fields: { org_id: 1, provider: 1, subject_id: 1 } }, aboutIndex],
);
export type Link = RecordOf<typeof LinkModel>;

const idOf = (provider: IntegrationProvider, external: string): string => `${provider}:${external}`;

const readLink = readerOf(LinkModel);

export async function findLink(provider: IntegrationProvider, external: string): Promise<Readonly<Link> | null> {
  return readLink(idOf(provider, external));
}

/** What stands for this ticket or task at the provider, the newest. */
export async function findLinkOf(
  orgId: string,
  provider: IntegrationProvider,
  subjectId: string,
): Promise<Link | null> {
  const [newest] = await collectionOf(LinkModel)
    .find({ org_id: orgId, provider, subject_id: subjectId })
    .sort({ created_at: -1 })
    .limit(1)
    .toArray();
  return newest ?? null;
}

/** All that stands for this task at any provider, without what was removed there. */
export async function listLinksOf(orgId: string, subjectId: string, options: Partial<Together> = {}): Promise<Link[]> {
  const query = {
    org_id: orgId,
    provider: { $in: [...integrationProviders] },
    subject_id: subjectId,
    removed_at: { $exists: false },
  };
  return collectionOf(LinkModel).find(query, options).toArray();
}

/** Stores a link unless it is there, and gives its id; the first one stays. */
export async function createLink(link: Omit<Link, '_id' | 'about'>): Promise<string> {
  const _id = idOf(link.provider, link.external);
  try {
    await collectionOf(LinkModel).insertOne({
      ...(defined(link) as Omit<Link, '_id' | 'about'>),
      _id,
      about: [link.subject_id, link.customer_id].filter((id) => id !== undefined),
    });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
  return _id;
}

/** Of something that was never made there. */
export async function removeLink(id: string): Promise<void> {
  await collectionOf(LinkModel).deleteOne({ _id: id });
}

/** Notes what the provider said of it, never back in time. */
export async function noteState(
  id: string,
  { stateId, seenAt }: { stateId?: string | undefined; seenAt?: Date | undefined },
): Promise<void> {
  if (stateId === undefined && seenAt === undefined) return;
  await collectionOf(LinkModel).updateOne(
    { _id: id },
    {
      ...(stateId === undefined ? {} : { $set: { state_id: stateId } }),
      ...(seenAt === undefined ? {} : { $max: { seen_at: seenAt } }),
    },
  );
}

/** Notes what an issue says now, as far as that is told. */
export async function noteIssue(id: string, known: Record<string, unknown>): Promise<void> {
  const set = Object.fromEntries(Object.entries(known).map(([name, value]) => [`known.${name}`, value]));
  await collectionOf(LinkModel).updateOne({ _id: id }, { $set: set });
}

export async function noteRemoved(id: string, now: Date): Promise<boolean> {
  const { modifiedCount } = await collectionOf(LinkModel).updateOne(
    { _id: id, removed_at: { $exists: false } },
    { $set: { removed_at: now } },
  );
  return modifiedCount === 1;
}
