/** Routes of deliveries to an organization's destinations: list them, see their attempts, send them again. */
import { key, type TenantPrincipal } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/outbox.ts';
import { startSaved } from '../../../workflows/start.ts';
import { startRecovered } from '../recovering.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { newId } from '../../../models/base/ids.ts';
import {
  createDelivery,
  DeliveryModel,
  findDelivery,
  listDeliveries,
  recoverDeliveries,
  redeliver,
  type Delivery,
} from '../../../models/events/delivery.ts';
import {
  findDestinations,
  listDestinations,
  settingsVersion,
  type Destination,
} from '../../../models/events/destination.ts';
import { findSupportConfig } from '../../../models/integrations/supportconfig.ts';
import { noSuch, Problem, sought } from '../../../models/rules/base/errors.ts';
import { hasOwnReceiver, maskHeaders, maskUrl, testEventType } from '../../../models/rules/events/delivery.ts';
import { eventBody } from '../../../models/rules/events/ticketevent.ts';

const viewDelivery = ({ request, subject, ...delivery }: Delivery) => ({
  ...delivery,
  delivery_id: delivery._id,
  request: request ? { ...request, url: maskUrl(request.url), headers: maskHeaders(request.headers) } : null,
  conv_id: subject.conv_id,
  ticket_id: subject.ticket_id,
});

const viewDestination = ({ disabled_at, ...destination }: Destination) => ({
  ...destination,
  disabled_at: destination.status === 'disabled' ? disabled_at : null,
});

async function deliveryOf({ orgId, modes }: TenantPrincipal, deliveryId: string): Promise<Delivery> {
  const found = await findDelivery(orgId, deliveryId);
  if (!found || !modes.includes(found.mode)) throw noSuch('delivery');
  return found;
}

/** @throws Problem CONFLICT when the destination is disabled until its settings are saved again. */
async function checkEnabled({
  org_id,
  mode,
  kind,
  lane,
}: Pick<Delivery, 'org_id' | 'mode' | 'kind' | 'lane'>): Promise<void> {
  if (hasOwnReceiver({ kind, lane })) return;
  const version = await settingsVersion(org_id, kind);
  const standing = (await findDestinations(org_id, mode, version)).get(kind);
  if (standing?.status !== 'disabled') return;
  throw new Problem('CONFLICT', {
    message: `The destination ${kind} is disabled (${standing.last_error}) Save its settings again first.`,
  });
}

async function sendTest(ctx: Context, { orgId, mode }: TenantPrincipal): Promise<Delivery> {
  const { outbox_webhook_url: url, outbox_webhook_secret: secret } = await findSupportConfig(orgId);
  if (url === null || secret === null) {
    const message = `Set ${url === null ? 'outbox_webhook_url' : 'outbox_webhook_secret'} in the support configuration first.`;
    throw new Problem('CONFLICT', { message });
  }
  await checkEnabled({ org_id: orgId, mode, kind: 'webhook', lane: 'webhook' });
  const now = ctx.clock();
  const data = { org_id: orgId, mode, ticket: null, conversation: null, customer: null };
  const fresh = {
    org_id: orgId,
    mode,
    kind: 'webhook' as const,
    event_id: newId('event'),
    event_type: testEventType,
    lane: 'webhook',
    destination: maskUrl(url),
    subject: {},
    about: [],
    payload: { body: eventBody(testEventType, now, data) },
  };
  const { delivery, intents } = await createDelivery(fresh, now);
  await startSaved(ctx, DeliveryModel, delivery, intents);
  return delivery;
}

export const outboxRoutes = [
  route(contract.listDeliveries, {
    summary:
      'What was sent, is being sent or would have been sent, the newest first; and how the destinations take it.',
    auth: key('support:read'),
    async handle({ query, principal: { orgId, modes } }) {
      const { status, kind, event_type: eventType } = query;
      const [{ entries, cursor }, destinations] = await Promise.all([
        paged(query, (limit, after) => listDeliveries(orgId, { modes, status, kind, eventType }, { limit, after })),
        listDestinations(orgId, modes),
      ]);
      return { deliveries: entries.map(viewDelivery), destinations: destinations.map(viewDestination), cursor };
    },
  }),
  route(contract.getDelivery, {
    summary: 'One delivery with its attempts.',
    auth: key('support:read'),
    async handle({ params: { deliveryId }, principal }) {
      return { delivery: viewDelivery(await deliveryOf(principal, deliveryId)) };
    },
  }),
  route(contract.redeliver, {
    summary: 'Send a delivery again, or make its next attempt now: the same `webhook-id` and body, signed anew.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    status: 202,
    async handle({ params: { deliveryId }, principal }, ctx) {
      const standing = await deliveryOf(principal, deliveryId);
      if (standing.subject.task_id !== undefined)
        throw new Problem('CONFLICT', {
          message: 'It tells what an execution would have sent; execute the task again.',
        });
      await checkEnabled(standing);
      const delivery = await sought(redeliver(principal.orgId, deliveryId, ctx.clock()), 'delivery');
      await startSaved(ctx, DeliveryModel, delivery, delivery.pending?.slice(-1) ?? []);
      return { delivery: viewDelivery(delivery) };
    },
  }),
  route(contract.recoverDeliveries, {
    summary: 'Send again what failed since a time, except to destinations that are disabled.',
    auth: key('support:write'),
    status: 202,
    async handle({ body, principal: { orgId, modes } }, ctx) {
      const since = new Date(body.since);
      const now = ctx.clock();
      const destinations = await listDestinations(orgId, modes);
      let total = 0;
      for (const mode of modes) {
        const disabled = destinations
          .filter((one) => one.mode === mode && one.status === 'disabled')
          .map(({ kind }) => kind);
        const { count, recovered } = await recoverDeliveries(orgId, { mode, disabled, since }, now);
        void startRecovered(ctx, orgId, recovered);
        total += count;
      }
      return { recovered: total };
    },
  }),
  route(contract.sendTestEvent, {
    summary: 'Send an event of the type `test` to the webhook, to see that it takes it.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    status: 202,
    async handle({ principal }, ctx) {
      return { delivery: viewDelivery(await sendTest(ctx, principal)) };
    },
  }),
];
