/**
 * Connections of an organization to other services: one record for each provider, with encrypted credentials. An
 * incoming event belongs to the organization whose `events_of` names the source of the event. When there are several,
 * it belongs to the one that connected first.
 */
import type { mongo } from 'mongoose';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, flag, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { grouped } from '../base/grouped.ts';
import { renewalTurns } from '../base/lease.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place, SecretBox } from '../base/secretbox.ts';
import { integrationProviders, integrationStatuses } from '../rules/integrations/integration.ts';
import type { IntegrationProvider } from '../rules/integrations/integration.ts';
import { outboxProviders, type OutboxProvider } from '../rules/integrations/supportconfig.ts';
import { defined } from '../rules/base/defined.ts';

export const IntegrationModel = defineModel(
  'Integration',
  'integrations',
  {
    /** The id: `<org_id>:<provider>`. */
    _id: string,
    org_id: string,
    provider: oneOf(integrationProviders),
    status: oneOf(integrationStatuses),
    /** The name of the connected account at the provider. */
    account: optional(string),
    /** The settings of the connection, which members see; they never contain a secret. */
    settings: mixed<Record<string, unknown>>(),
    /**
     * The provider's id of the account: Linear's workspace, Slack's team. Several organizations may share a workspace.
     */
    workspace: optional(string),
    /** The credentials as encrypted JSON; absent once disconnected. */
    sealed: optional(string),
    /** The organization's own secret that signs incoming requests of the provider, encrypted. */
    sealed_signing: optional(string),
    /**
     * The source of the events that this organization wants, such as `team:<id>`. Of several organizations that want
     * the same events, the one that connected first gets them.
     */
    events_of: optional(string),
    events_since: optional(date),
    /**
     * Whether the provider said that the owner of the credentials has rights at `events_of` that strangers do not have.
     * A stranger can connect a public repository too, because everybody may read it.
     */
    insider: flag,
    /**
     * Increments with each new connection, so that a provider that refuses older credentials does not mark a newer
     * connection as broken.
     */
    generation: number,
    connected_at: optional(date),
    broken_at: optional(date),
    broken_reason: optional(string),
    updated_at: date,
  },
  [
    { fields: { org_id: 1 } },
    {
      fields: { provider: 1, events_of: 1, insider: -1, events_since: 1 },
      partialFilterExpression: { events_of: { $exists: true } },
    },
    {
      fields: { provider: 1, workspace: 1, insider: -1, events_since: 1 },
      partialFilterExpression: { workspace: { $exists: true } },
    },
    {
      fields: { provider: 1, updated_at: -1 },
      partialFilterExpression: { sealed_signing: { $exists: true } },
    },
  ],
);
export type Integration = RecordOf<typeof IntegrationModel>;
/** An integration with credentials: it is connected or broken, but not disconnected. */
export type Connection = Integration & { sealed: string };

const idOf = (orgId: string, provider: IntegrationProvider): string => `${orgId}:${provider}`;

type Whose = Pick<Integration, 'org_id' | 'provider'>;

const credentialPlace = ({ org_id, provider }: Whose): Place => ({
  field: 'integrations.sealed',
  record: idOf(org_id, provider),
});
export const credentialsOf = (connection: Whose & { sealed: string }, { open }: SecretBox): unknown =>
  JSON.parse(open(connection.sealed, credentialPlace(connection)));
export const sealCredentials = (whose: Whose, credentials: object, { seal }: SecretBox): string =>
  seal(JSON.stringify(credentials), credentialPlace(whose));

export const signingPlace = ({ org_id, provider }: Whose): Place => ({
  field: 'integrations.sealed_signing',
  record: idOf(org_id, provider),
});

export const integrationSeals = sealedRecords(
  IntegrationModel,
  (integration) => [
    { path: 'sealed', sealed: integration.sealed, place: credentialPlace(integration) },
    { path: 'sealed_signing', sealed: integration.sealed_signing, place: signingPlace(integration) },
  ],
  // The lock keeps a re-encryption from changing the credentials while another process renews them. `keepRenewed`
  // stores renewed credentials only in place of the older ones that it was given.
  { turnsOf: ({ _id }) => renewalTurns(_id) },
);

export async function findIntegration(orgId: string, provider: IntegrationProvider): Promise<Integration | null> {
  return collectionOf(IntegrationModel).findOne({ _id: idOf(orgId, provider) });
}

/**
 * The connection unless it is disconnected. A broken connection is included, because its credentials may work again.
 */
export async function findConnection(orgId: string, provider: IntegrationProvider): Promise<Connection | null> {
  const which = { _id: idOf(orgId, provider), sealed: { $exists: true } };
  return (await collectionOf(IntegrationModel).findOne(which)) as Connection | null;
}

export const hasMailServer = async (orgId: string): Promise<boolean> => (await findConnection(orgId, 'email')) !== null;

export async function listIntegrations(orgId: string): Promise<Integration[]> {
  return collectionOf(IntegrationModel).find({ org_id: orgId }).toArray();
}

/**
 * The connection whose organization gets the events from this source: the oldest connection with this `events_of`. When
 * this connection is disconnected, the next oldest one gets the events. Look-ups in one turn of the event loop become
 * one query.
 */
export const findOwner = (provider: IntegrationProvider, eventsOf: string): Promise<Readonly<Integration> | null> =>
  ownerOf({ provider, events_of: eventsOf });

type Asked = { provider: IntegrationProvider; events_of: string };
const ownerOf = grouped<Asked, Readonly<Integration> | null>(
  async (asked) => {
    const named = new Map(asked.map((one) => [`${one.provider} ${one.events_of}`, one]));
    const found = await collectionOf(IntegrationModel)
      .find({ $or: [...named.values()] })
      .toArray();
    // Organizations that connected at the same moment are ordered by id, so that all processes agree.
    const since = ({ events_since: at, _id }: Integration): string => `${at?.toISOString()} ${_id}`;
    const oldestFirst = found.toSorted((a, b) => (since(a) < since(b) ? -1 : 1));
    return asked.map(
      (one) =>
        oldestFirst.find(({ provider, events_of }) => provider === one.provider && events_of === one.events_of) ?? null,
    );
  },
  { atOnce: 20, max: 200 },
);

const signing = { sealed_signing: { $exists: true } } as const;
/**
 * The maximum number of signing secrets that are tried for one request. It bounds the work when many organizations
 * share a workspace.
 */
const maxNamed = 50;

/**
 * The connections with a signing secret of their own that belong to `workspace` or have this `events_of` (the source of
 * the events, such as a team); at most `maxNamed`. Insiders come first, so that no number of strangers displaces them;
 * then the oldest connections.
 */
export async function listOwn(
  provider: IntegrationProvider,
  { workspace, events_of }: { workspace?: string | undefined; events_of?: string | undefined },
): Promise<Integration[]> {
  // Each alternative repeats all conditions, because MongoDB only then uses the partial indexes and merges their
  // orders.
  const either = [
    ...(workspace === undefined ? [] : [{ provider, workspace, ...signing }]),
    ...(events_of === undefined ? [] : [{ provider, events_of, ...signing }]),
  ];
  if (either.length === 0) return [];
  return collectionOf(IntegrationModel)
    .find({ $or: either })
    .sort({ insider: -1, events_since: 1 })
    .limit(maxNamed)
    .toArray();
}

/** Connections with a signing secret of their own, the most recently changed first. */
export async function listSigning(provider: IntegrationProvider, limit: number): Promise<Integration[]> {
  return collectionOf(IntegrationModel)
    .find({ provider, ...signing })
    .sort({ updated_at: -1 })
    .limit(limit)
    .toArray();
}

export type Connected = Pick<Integration, 'account' | 'settings' | 'sealed'> &
  Partial<Pick<Integration, 'workspace' | 'sealed_signing' | 'events_of' | 'insider'>>;

/** Stores a connection; without `sealed` the stored credentials are kept. */
export async function connectIntegration(
  orgId: string,
  provider: IntegrationProvider,
  connected: Connected,
  now: Date,
): Promise<Integration> {
  const standing = await findIntegration(orgId, provider);
  // An organization that connects the same event source again keeps `events_since`, because the organization with the
  // earliest `events_since` gets the events.
  const since = standing?.events_of === connected.events_of ? (standing?.events_since ?? now) : now;
  const optional = { workspace: undefined, sealed_signing: undefined, events_of: undefined, insider: undefined };
  const asks = { events_since: connected.events_of === undefined ? undefined : since };
  const entries = Object.entries({ ...optional, ...connected, ...asks });
  // MongoDB itself repeats the upsert when another request creates the record at the same time.
  const stored = await collectionOf(IntegrationModel).findOneAndUpdate(
    { _id: idOf(orgId, provider) },
    {
      $set: {
        org_id: orgId,
        provider,
        status: 'connected',
        connected_at: now,
        updated_at: now,
        ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      },
      $unset: {
        broken_at: '',
        broken_reason: '',
        ...Object.fromEntries(entries.filter(([, value]) => value === undefined).map(([name]) => [name, ''])),
      },
      $inc: { generation: 1 },
    },
    { upsert: true, returnDocument: 'after' },
  );
  return stored!;
}

/**
 * Stores the settings of a connection and keeps its credentials; null when the connection was disconnected or replaced
 * meanwhile.
 */
export async function changeConnection(
  { _id, generation }: Pick<Integration, '_id' | 'generation'>,
  settings: Integration['settings'],
  now: Date,
): Promise<Integration | null> {
  return collectionOf(IntegrationModel).findOneAndUpdate(
    { _id, generation, sealed: { $exists: true } },
    {
      $set: { settings, status: 'connected', connected_at: now, updated_at: now },
      $unset: { broken_at: '', broken_reason: '' },
      $inc: { generation: 1 },
    },
    { returnDocument: 'after' },
  );
}

/**
 * Disconnects: removes the credentials and `events_of`. Returns the connection as it was before; null when there is
 * none or it was already disconnected.
 */
export async function disconnectIntegration(
  orgId: string,
  provider: IntegrationProvider,
  now: Date,
  session?: mongo.ClientSession,
): Promise<Integration | null> {
  return collectionOf(IntegrationModel).findOneAndUpdate(
    { _id: idOf(orgId, provider), status: { $ne: 'disconnected' } },
    {
      $set: { status: 'disconnected', updated_at: now },
      $unset: {
        sealed: '',
        sealed_signing: '',
        events_of: '',
        events_since: '',
        insider: '',
        workspace: '',
        broken_at: '',
        broken_reason: '',
      },
    },
    { returnDocument: 'before', ...defined({ session }) },
  );
}

/** Marks a connection as refused by the provider; false when it was replaced by a newer connection meanwhile. */
export async function breakIntegration(
  { _id, generation }: Pick<Integration, '_id' | 'generation'>,
  reason: string,
  now: Date,
): Promise<boolean> {
  const { modifiedCount } = await collectionOf(IntegrationModel).updateOne(
    { _id, generation, status: 'connected' },
    { $set: { status: 'broken', broken_at: now, broken_reason: reason, updated_at: now } },
  );
  return modifiedCount === 1;
}

/** Stores renewed credentials in place of the credentials `before`; false when `before` is no longer stored. */
export async function keepRenewed(id: string, before: string, sealed: string): Promise<boolean> {
  const { matchedCount } = await collectionOf(IntegrationModel).updateOne(
    { _id: id, sealed: before },
    { $set: { sealed } },
  );
  return matchedCount === 1;
}

/** The number of organizations that are connected to this workspace. */
export async function countWorkspace(provider: IntegrationProvider, workspace: string): Promise<number> {
  return collectionOf(IntegrationModel).countDocuments({ provider, workspace });
}

/** The connected destinations of ticket events. */
export async function listConnectedIntegrations(orgId: string): Promise<OutboxProvider[]> {
  const connected = (await listIntegrations(orgId)).filter(({ status }) => status === 'connected');
  return outboxProviders.filter((one) => connected.some(({ provider }) => provider === one));
}
