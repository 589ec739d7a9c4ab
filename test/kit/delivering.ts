/** Deliveries without workers: the activities run on a separate database, with a clock that the test moves. */
import { afterAll } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import pino from 'pino';
import { modelsIn } from './database.ts';
import { newSecret } from './receiver.ts';
import { createDeliveryActivities } from '../../activities/events/deliver.ts';
import type { AttemptDeps } from '../../activities/events/attempt.ts';
import { webhook } from '../../providers/webhook/send.ts';
import { createHttp, type HttpOptions, type HttpRequest } from '../../clients/http/http.ts';
import { newId } from '../../models/base/ids.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { actOn } from '../../models/chat/act.ts';
import { provideConversation } from '../../models/chat/current.ts';
import { provideCustomer } from '../../models/chat/customer.ts';
import { DeliveryModel, type Delivery } from '../../models/events/delivery.ts';
import { findSupportConfig, saveSupportConfig, webhookSecretPlace } from '../../models/integrations/supportconfig.ts';
import { outboxAfter, type SettingsPatch } from '../../models/rules/integrations/supportconfig.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** Call this where hooks may be registered. `name` is the name of the database, unique in the run. */
export function delivering(
  name: string,
  options: {
    http?: Partial<HttpOptions>;
    limits?: Partial<HttpRequest>;
    clock?: () => Date;
    deps?: Partial<AttemptDeps>;
  } = {},
) {
  modelsIn(name);
  const client = createHttp({ userAgent: 'Test/1.0', connectionsPerOrigin: 64, ...options.http });
  afterAll(() => client.close());

  let aheadMs = 0;
  const clock = options.clock ?? (() => new Date(Date.now() + aheadMs));
  const secrets = createSecretBox([randomBytes(32)]);
  const deps: AttemptDeps = {
    http: { ...client, request: (url, request) => client.request(url, { ...request, ...options.limits }) },
    secrets,
    // No workflow is started, so that tests can look at what waits.
    start: () => Promise.resolve(),
    // By default only webhooks are sent.
    senders: { webhook },
    slack: undefined as never,
    slackApp: undefined,
    linear: undefined as never,
    github: undefined as never,
    mailer: undefined as never,
    mail: undefined as never,
    publicUrl: 'http://127.0.0.1:3000',
    egressAllow: options.http?.egressAllow ?? ['127.0.0.1'],
    clock,
    log: pino({ level: 'silent' }),
    random: () => 0,
    ...options.deps,
  };
  const fast = createDeliveryActivities(deps);
  const slow = createDeliveryActivities(deps, { slow: true });

  async function configure(orgId: string, patch: SettingsPatch): Promise<void> {
    const current = await findSupportConfig(orgId);
    const sealed = patch.outbox_webhook_secret
      ? secrets.seal(patch.outbox_webhook_secret, webhookSecretPlace(orgId))
      : undefined;
    const next = { ...patch, ...defined({ outbox_webhook_secret: sealed }) };
    const settings = { ...current, ...next, ...outboxAfter(current, next, clock()) };
    await saveSupportConfig(orgId, current.version, settings as typeof current, clock());
  }
  async function newOrg(url: string, orgId = newId('org')): Promise<string> {
    const patch = {
      outbox_providers: ['webhook' as const],
      outbox_webhook_url: url,
      outbox_webhook_secret: newSecret(),
    };
    await configure(orgId, patch);
    return orgId;
  }
  /** A ticket whose first two events are stored. Nothing sends them until the test does. */
  async function newTicket(orgId: string) {
    const customer = await provideCustomer(orgId, 'live', { externalId: newId('request') }, clock());
    const { _id: convId } = await provideConversation(orgId, 'live', customer._id, clock());
    const { ticket } = await actOn(orgId, convId, 'escalate', { now: clock(), reason: 'asked' });
    return { orgId, convId, ticketId: ticket!.ticket_id };
  }
  const run = <A, R>(activity: (input: A) => Promise<R>, input: A): Promise<R> =>
    new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run<[A], R, typeof activity>(
      activity,
      input,
    );
  const deliveries = (orgId: string): Promise<Delivery[]> =>
    DeliveryModel.find({ org_id: orgId }).sort({ _id: 1 }).lean<Delivery[]>();

  return {
    configure,
    newOrg,
    newTicket,
    deliveries,
    secrets,
    clock,
    move: (ms: number): void => void (aheadMs += ms),
    sendEvents: (ref: Omit<Parameters<typeof fast.sendEvents>[0], 'carried'>) =>
      run(fast.sendEvents, { ...ref, carried: [] }),
    sendSome: (orgId: string, line: string) => run(fast.sendSome, { orgId, line }),
    sendSlowly: (orgId: string, line: string) => run(slow.sendSome, { orgId, line }),
    activities: fast,
  };
}
