/**
 * A release holds the credentials of an ended connection until they are revoked at the service. The transaction that
 * ends the connection stores the release and the intent to revoke the credentials, so that no credential stays valid
 * because of a crash.
 */
import mongoose from 'mongoose';
import { credentialsOf, disconnectIntegration } from './integration.ts';
import { collectionOf, defineModel, finderOf, type RecordOf } from '../base/define.ts';
import { date, oneOf, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { SecretBox } from '../base/secretbox.ts';
import { intentFor, pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';
import { integrationProviders, type IntegrationProvider } from '../rules/integrations/integration.ts';
import { givesBack, releaseCredentialWork, releaseTriedForMs } from '../rules/integrations/work.ts';
import { defined } from '../rules/base/defined.ts';

/**
 * The retention period, in ms: one day longer than the revocation is retried. Then MongoDB deletes even a credential
 * that could not be revoked.
 */
const keptMs = releaseTriedForMs + 86_400_000;

export const ReleaseModel = defineModel(
  'Release',
  'releases',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    provider: oneOf(integrationProviders),
    /** The credentials as encrypted JSON. */
    sealed: string,
    /** The provider's id of the account, such as Slack's team. */
    workspace: optional(string),
    expires_at: date,
    pending: pendingField,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type Release = RecordOf<typeof ReleaseModel>;

const releasePlace = (id: string) => ({ field: 'releases.sealed', record: id });

export const releaseSeals = sealedRecords(ReleaseModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: releasePlace(_id) },
]);

type Owned = Pick<Release, 'org_id' | 'provider'> & { credentials: unknown; workspace?: string | undefined };
type Sealing = { secrets: SecretBox; now: Date };

function releaseOf(
  { org_id, provider, credentials, workspace }: Owned,
  { secrets, now }: Sealing,
): Release & { pending: Intent[] } {
  const id = newId('release');
  const sealed = secrets.seal(JSON.stringify(credentials), releasePlace(id));
  const expires_at = new Date(now.getTime() + keptMs);
  // Credentials belong to no mode, but every record with intents needs a mode (`Launchable`).
  const fields = { _id: id, org_id, mode: 'live', provider, sealed, workspace, expires_at } as const;
  return {
    ...(defined(fields) as Omit<Release, 'pending'>),
    pending: [intentFor(releaseCredentialWork(org_id, id), now)],
  };
}

/** Stores credentials that belong to no connection, so that the sweeper starts the workflow that revokes them. */
export async function createRelease(owned: Owned, sealing: Sealing): Promise<void> {
  await collectionOf(ReleaseModel).insertOne(releaseOf(owned, sealing));
}

/**
 * Ends a connection, and stores its credentials for revocation if the service supports that; null when there is nothing
 * to revoke. Idempotent. Both records change in one transaction, because a crash in between would leave a valid token
 * that nobody can revoke.
 */
export async function endConnection(
  orgId: string,
  provider: IntegrationProvider,
  sealing: Sealing,
): Promise<(Release & { pending: Intent[] }) | null> {
  let release: (Release & { pending: Intent[] }) | null = null;
  await mongoose.connection.transaction(async (session) => {
    // MongoDB may run the transaction again, so the result is reset.
    release = null;
    const before = await disconnectIntegration(orgId, provider, sealing.now, session);
    if (before?.sealed === undefined || !givesBack.has(provider)) return;
    const { sealed, workspace } = before;
    const credentials = credentialsOf({ ...before, sealed }, sealing.secrets);
    release = releaseOf({ org_id: orgId, provider, credentials, workspace }, sealing);
    await collectionOf(ReleaseModel).insertOne(release, { session });
  });
  return release;
}

export const releasedCredentials = ({ _id, sealed }: Pick<Release, '_id' | 'sealed'>, { open }: SecretBox): unknown =>
  JSON.parse(open(sealed, releasePlace(_id)));

export const findRelease = finderOf(ReleaseModel);

/**
 * Stores credentials that had to be renewed before they could be revoked. A refresh token can be used only once, so a
 * retry needs the renewed credentials.
 */
export async function keepReleased(id: string, credentials: object, { seal }: SecretBox): Promise<void> {
  const sealed = seal(JSON.stringify(credentials), releasePlace(id));
  await collectionOf(ReleaseModel).updateOne({ _id: id }, { $set: { sealed } });
}

export async function removeRelease(id: string): Promise<void> {
  await collectionOf(ReleaseModel).deleteOne({ _id: id });
}
