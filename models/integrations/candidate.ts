/**
 * Connections that are being tested before they are stored. The testing activity reads the encrypted credentials from
 * this record and writes the outcome into this record. So neither the credentials nor the outcome appears in a
 * workflow's history. A candidate is deleted when its outcome was read, or after ten minutes.
 */
import { collectionOf, defineModel, finderOf, removerOf, type RecordOf } from '../base/define.ts';
import { date, mixed, oneOf, optional, string } from '../rules/base/fields.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { Tried } from '../rules/integrations/work.ts';
import { integrationProviders } from '../rules/integrations/integration.ts';
import { defined } from '../rules/base/defined.ts';

const candidateMs = 10 * 60_000;

const CandidateModel = defineModel(
  'Candidate',
  'integration_candidates',
  {
    _id: string,
    org_id: string,
    provider: oneOf(integrationProviders),
    /** The credentials as encrypted JSON; absent when the stored credentials are tested, and after the test. */
    sealed: optional(string),
    /** The settings to store with the credentials if the test succeeds; no secrets. */
    settings: mixed<Record<string, unknown>>(),
    outcome: optional(mixed<Tried>()),
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }],
);
export type Candidate = RecordOf<typeof CandidateModel>;

const candidatePlace = (id: string) => ({ field: 'integration_candidates.sealed', record: id });

/** A candidate together with its credentials, which are encrypted. */
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
    ...defined({ sealed }),
    expires_at,
  });
}

export const candidateCredentials = ({ _id, sealed }: SealedCandidate, { open }: SecretBox): unknown =>
  JSON.parse(open(sealed, candidatePlace(_id)));

export const findCandidate = finderOf(CandidateModel);

/** Stores the outcome of the test, and removes the credentials. */
export async function settleCandidate(orgId: string, id: string, outcome: Tried): Promise<void> {
  await collectionOf(CandidateModel).updateOne(
    { _id: id, org_id: orgId },
    { $set: { outcome, settings: {} }, $unset: { sealed: '' } },
  );
}

export const removeCandidate = removerOf(CandidateModel);
