/**
 * Links from objects of other services to tickets and tasks, for example from an issue or a thread to its ticket. An
 * incoming event finds its ticket or task by the link. An external object has at most one link.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, readerById, type Together, type RecordOf } from '../base/define.ts';
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
    /** The id: `<provider>:<external>`. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    provider: oneOf(integrationProviders),
    /** The issue's id, or `<team>:<channel>:<ts>` for a Slack thread. */
    external: string,
    /**
     * The id of Linear's workspace in which the issue is. A link without it counts as one of the connected workspace.
     * The `external` of the other providers names the workspace or repository itself.
     */
    workspace: optional(string),
    kind: oneOf(linkKinds),
    /** The id of the linked ticket or task. */
    subject_id: string,
    /** The ticket's conversation; absent for a task. */
    conv_id: optional(string),
    customer_id: optional(string),
    /** The ids of the linked ticket or task and of the customer. The link is erased together with any of them. */
    about: aboutField,
    /** The provider's id of the issue's last known workflow state. */
    state_id: optional(string),
    /** The time of the newest change that an event reported. Events about older changes are ignored. */
    seen_at: optional(date),
    removed_at: optional(date),
    /** The last known content of a task's issue (models/rules/tasks/issues.ts). */
    known: optional(mixed<Record<string, unknown>>()),
    created_at: date,
  },
  [{ fields: { org_id: 1, provider: 1, subject_id: 1 } }, aboutIndex],
);
export type Link = RecordOf<typeof LinkModel>;

const idOf = (provider: IntegrationProvider, external: string): string => `${provider}:${external}`;

const readLink = readerById(LinkModel);

export async function findLink(provider: IntegrationProvider, external: string): Promise<Readonly<Link> | null> {
  return readLink(idOf(provider, external));
}

/**
 * The newest link of a ticket or task at one provider. `workspace`: if given, links to other workspaces are left out.
 */
export async function findLinkOf(
  orgId: string,
  provider: IntegrationProvider,
  subjectId: string,
  workspace?: string,
): Promise<Link | null> {
  const [newest] = await collectionOf(LinkModel)
    .find({
      org_id: orgId,
      provider,
      subject_id: subjectId,
      ...(workspace === undefined ? {} : { $or: [{ workspace }, { workspace: { $exists: false } }] }),
    })
    .sort({ created_at: -1 })
    .limit(1)
    .toArray();
  return newest ?? null;
}

/** The links of a task or ticket at all providers, without those whose external object was removed. */
export async function listLinksOf(orgId: string, subjectId: string, options: Partial<Together> = {}): Promise<Link[]> {
  const query = {
    org_id: orgId,
    provider: { $in: [...integrationProviders] },
    subject_id: subjectId,
    removed_at: { $exists: false },
  };
  return collectionOf(LinkModel).find(query, options).toArray();
}

/** Stores a link and returns its id. An existing link with the same id is kept unchanged. */
export async function createLink(link: Omit<Link, '_id' | 'about'>): Promise<string> {
  const _id = idOf(link.provider, link.external);
  const about = [link.subject_id, link.customer_id].filter((id) => id !== undefined);
  const stored = { ...(defined(link) as Omit<Link, '_id' | 'about'>), _id, about };
  await unlessDuplicate(() => collectionOf(LinkModel).insertOne(stored));
  return _id;
}

/** Deletes a link that was stored first, and whose external object the provider then refused to create. */
export async function removeLink(id: string): Promise<void> {
  await collectionOf(LinkModel).deleteOne({ _id: id });
}

/** Notes the state that the provider reported. `seen_at` never moves back to an earlier time. */
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

/** Notes the current content of an issue. Fields that are absent from `known` keep their stored values. */
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

/** Clears `removed_at`, because the provider reported a later change of the external object. */
export async function noteRestored(id: string): Promise<void> {
  await collectionOf(LinkModel).updateOne({ _id: id }, { $unset: { removed_at: '' } });
}
