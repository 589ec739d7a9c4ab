/**
 * How an organization's destinations take what is sent to them: one record for each mode and kind, from the first attempt
 * on. It says whom failures are counted against and since when, who answers too slowly to be sent to beside others, and what
 * was disabled. It speaks about settings as they were saved: saved again, a destination begins anew.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { destinationStatuses } from '../rules/events/destination.ts';
import { deliveryKinds, type DeliveryKind } from '../rules/events/delivery.ts';

const DestinationModel = defineModel(
  'Destination',
  'destinations',
  {
    /** `<orgId>:<mode>:<kind>` */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    kind: oneOf(deliveryKinds),
    /** `outbox_version` of the support configuration that this is about. */
    version: number,
    status: oneOf(destinationStatuses),
    /** Whether the last attempt ran into its time limit. */
    slow: boolean,
    /** The first of the failures since the last success. */
    failing_since: optional(date),
    last_error: optional(string),
    disabled_at: optional(date),
    updated_at: date,
  },
  [{ fields: { org_id: 1 } }],
);
export type Destination = RecordOf<typeof DestinationModel>;

const destinations = () => collectionOf(DestinationModel);

export type DestinationRef = { org_id: string; mode: Mode; kind: DeliveryKind; version: number };
export const destinationId = ({ org_id, mode, kind }: Omit<DestinationRef, 'version'>): string =>
  `${org_id}:${mode}:${kind}`;

/** Those of this mode that were sent to with the settings of this version. */
export async function findDestinations(
  orgId: string,
  mode: Mode,
  version: number,
): Promise<Map<DeliveryKind, Destination>> {
  const ids = deliveryKinds.map((kind) => destinationId({ org_id: orgId, mode, kind }));
  const found = await destinations()
    .find({ _id: { $in: ids }, version })
    .toArray();
  return new Map(found.map((destination) => [destination.kind, destination]));
}

/** What was sent to of an organization with the settings of this version. */
export async function listDestinations(orgId: string, seen: readonly Mode[], version: number): Promise<Destination[]> {
  return destinations()
    .find({ org_id: orgId, mode: { $in: [...seen] }, version })
    .sort({ _id: 1 })
    .toArray();
}

const fresh = ({ org_id, mode, kind, version }: DestinationRef, now: Date) => ({
  org_id,
  mode,
  kind,
  version,
  updated_at: now,
});

/** A success ends every failure, but not a disabling. */
export async function noteSuccess(ref: DestinationRef, now: Date): Promise<void> {
  const disabled = { $and: [{ $eq: ['$version', ref.version] }, { $eq: ['$status', 'disabled'] }] };
  await destinations().updateOne(
    { _id: destinationId(ref) },
    [
      { $set: { ...fresh(ref, now), status: { $cond: [disabled, 'disabled', 'active'] }, slow: false } },
      { $unset: ['failing_since', 'last_error'] },
    ],
    { upsert: true },
  );
}

/** Notes a failure; returns since when there were only failures. */
export async function noteFailure(
  ref: DestinationRef,
  { error, timedOut }: { error: string; timedOut: boolean },
  now: Date,
): Promise<Date> {
  const same = { $eq: ['$version', ref.version] };
  const since = { $cond: [same, { $ifNull: ['$failing_since', now] }, now] };
  const disabled = { $and: [same, { $eq: ['$status', 'disabled'] }] };
  const noted = await destinations().findOneAndUpdate(
    { _id: destinationId(ref) },
    [
      // Both look at the version that was there before.
      { $set: { failing_since: since, status: { $cond: [disabled, 'disabled', 'failing'] } } },
      { $set: { ...fresh(ref, now), slow: timedOut, last_error: { $literal: error } } },
    ],
    { upsert: true, returnDocument: 'after' },
  );
  return noted?.failing_since ?? now;
}

/** Sends nothing more there until its settings are saved again. */
export async function disableDestination(ref: DestinationRef, error: string, now: Date): Promise<void> {
  await destinations().updateOne(
    { _id: destinationId(ref) },
    {
      $set: { ...fresh(ref, now), status: 'disabled', slow: false, last_error: error, disabled_at: now },
      $setOnInsert: { failing_since: now },
    },
    { upsert: true },
  );
}

/** Takes up sending again, as after an integration was connected again. */
export async function enableDestination(orgId: string, kind: DeliveryKind): Promise<void> {
  await destinations().deleteMany({ _id: { $in: modes.map((mode) => destinationId({ org_id: orgId, mode, kind })) } });
}
