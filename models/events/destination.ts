/**
 * The state of an organization's delivery destinations: one record per mode and kind, created by the first attempt. A
 * record says since when all attempts fail, whether the destination is slow, and whether it is disabled. It applies to
 * one version of the saved settings, so saving the settings resets the state.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { findOrgWebhook } from './orgwebhook.ts';
import { findSupportConfig } from '../integrations/supportconfig.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { destinationStatuses } from '../rules/events/destination.ts';
import { deliveryKinds, type DeliveryKind } from '../rules/events/delivery.ts';

const DestinationModel = defineModel(
  'Destination',
  'destinations',
  {
    /** The id: `<orgId>:<mode>:<kind>` */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    kind: oneOf(deliveryKinds),
    /** The version of the saved settings to which this state applies (`settingsVersion`). */
    version: number,
    status: oneOf(destinationStatuses),
    /** True when the last attempt timed out. */
    slow: boolean,
    /** The time of the first failure since the last success. */
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

/**
 * The version of the saved settings of a destination. The Slack webhook that gets notifications is saved apart from the
 * destinations of ticket events, so it has a version of its own.
 */
export async function settingsVersion(orgId: string, kind: DeliveryKind): Promise<number> {
  if (kind === 'notification') return (await findOrgWebhook(orgId)).slack_webhook_version;
  return (await findSupportConfig(orgId)).outbox_version;
}

/** The states of the destinations of a mode, by kind, for one version of the settings. */
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

/** The states of an organization's destinations in the given modes, for the settings as they are saved. */
export async function listDestinations(orgId: string, seen: readonly Mode[]): Promise<Destination[]> {
  const [notifications, others] = await Promise.all([
    settingsVersion(orgId, 'notification'),
    settingsVersion(orgId, 'webhook'),
  ]);
  return destinations()
    .find({
      org_id: orgId,
      mode: { $in: [...seen] },
      $or: [
        { kind: 'notification', version: notifications },
        { kind: { $ne: 'notification' }, version: others },
      ],
    })
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

/**
 * Notes a successful attempt. The success clears `failing_since` and `last_error`, but a disabled destination stays
 * disabled.
 */
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

/** Notes a failed attempt. Returns the time since which all attempts have failed. */
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
      // This stage must run first, because it reads the stored version, which the next stage overwrites.
      { $set: { failing_since: since, status: { $cond: [disabled, 'disabled', 'failing'] } } },
      { $set: { ...fresh(ref, now), slow: timedOut, last_error: { $literal: error } } },
    ],
    { upsert: true, returnDocument: 'after' },
  );
  return noted?.failing_since ?? now;
}

/** Disables the destination until its settings are saved again. */
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

/** Deletes the destination's state, so that deliveries resume, for example after an integration is connected again. */
export async function enableDestination(orgId: string, kind: DeliveryKind): Promise<void> {
  await destinations().deleteMany({ _id: { $in: modes.map((mode) => destinationId({ org_id: orgId, mode, kind })) } });
}
