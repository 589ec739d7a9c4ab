/**
 * Connections that are being tried. Credentials go from here to the activity that tries them, sealed, and what came of it goes
 * back, so that no workflow carries either. A candidate is removed when its outcome was read, or after ten minutes.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, mixed, oneOf, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { Tried } from '../rules/integrations/work.ts';
import { integrationProviders } from '../rules/integrations/integration.ts';

const candidateMs = 10 * 60_000;

const CandidateModel = defineModel(
  'Candidate',
  'integration_candidates',
  {
    _id: string,
    org_id: string,
    provider: oneOf(integrationProviders),
    /** The credentials as JSON, sealed; absent when those are tried that are stored, and once they were tried. */
    sealed: optional(string),
    /** What is stored beside them when they are taken; no secret. */
    settings: mixed<Record<string, unknown>>(),
    outcome: optional(mixed<Tried>()),
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type Candidate = RecordOf<typeof CandidateModel>;

const candidatePlace = (id: string) => ({ field: 'integration_candidates.sealed', record: id });

/** With credentials. */
export type SealedCandidate = Candidate & { sealed: string };

export const candidateSeals = sealedRecords(CandidateModel, ({ _id, sealed }) => [
  { path: 'sealed', sealed, place: candidatePlace(_id) },
]);

export async function createCandidate(
  { credentials, ...candidate }: Omit<Candidate, 'sealed' | 'outcome' | 'expires_at'> & { credentials?: unknown },
  { secrets, now }: { secrets: SecretBox; now: Date },
): Promise<void> {
  const sealed =
    credentials === undefined ? undefined : secrets.seal(JSON.stringify(credentials), candidatePlace(candidate._id));
  const expires_at = new Date(now.getTime() + candidateMs);
  await collectionOf(CandidateModel).insertOne({
    ...candidate,
    ...(sealed === undefined ? {} : { sealed }),
    expires_at,
  });
}

/** The credentials that are being tried. */
export const candidateCredentials = ({ _id, sealed }: SealedCandidate, { open }: SecretBox): unknown =>
  JSON.parse(open(sealed, candidatePlace(_id)));

export async function findCandidate(orgId: string, id: string): Promise<Candidate | null> {
  return collectionOf(CandidateModel).findOne({ _id: id, org_id: orgId });
}

/** Keeps what came of it; the credentials are not needed any more. */
export async function settleCandidate(orgId: string, id: string, outcome: Tried): Promise<void> {
  await collectionOf(CandidateModel).updateOne(
    { _id: id, org_id: orgId },
    { $set: { outcome, settings: {} }, $unset: { sealed: '' } },
  );
}

export async function removeCandidate(orgId: string, id: string): Promise<void> {
  await collectionOf(CandidateModel).deleteOne({ _id: id, org_id: orgId });
}
