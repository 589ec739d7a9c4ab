/**
 * Sends events to an organization's HTTPS endpoint, signed according to Standard Webhooks. Each attempt uses the
 * current URL and secrets, so that correcting them also fixes pending retries. The body never changes.
 */
import { post } from './post.ts';
import type { DeliverySender, SenderDeps } from '../base/sender.ts';
import { signedHeaders } from './signature.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { findSupportConfig, webhookSecretPlace } from '../../models/integrations/supportconfig.ts';
import { DeliveryRefused, maskUrl, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { validSecrets, webhookUrlProblem } from '../../models/rules/integrations/supportconfig.ts';

type Payload = { body: string };

async function requestOf(delivery: Delivery, { secrets, egressAllow, clock }: SenderDeps): Promise<OutgoingRequest> {
  const supportConfig = await findSupportConfig(delivery.org_id);
  const url = supportConfig.outbox_webhook_url;
  if (url === null) throw new DeliveryRefused('outbox_webhook_url is not set any more.', { permanent: true });
  const problem = webhookUrlProblem(url, egressAllow);
  if (problem) throw new DeliveryRefused(`outbox_webhook_url ${problem}.`, { permanent: true });
  const { body } = delivery.payload as Payload;
  const now = clock();
  const place = webhookSecretPlace(delivery.org_id);
  const [newest, ...older] = validSecrets(supportConfig, now).map((sealed) => secrets.open(sealed, place));
  if (newest === undefined)
    throw new DeliveryRefused('outbox_webhook_secret is not set any more.', { permanent: true });
  const headers = {
    'content-type': 'application/json',
    ...signedHeaders(delivery.event_id, now, body, [newest, ...older]),
  };
  return { method: 'POST', url, headers, body };
}

export const webhook: DeliverySender = {
  async compose({ supportConfig, body }) {
    const url = supportConfig.outbox_webhook_url;
    return url === null ? null : { destination: maskUrl(url), payload: { body } satisfies Payload };
  },

  preview: requestOf,

  async send(delivery, deps, signal) {
    const request = await requestOf(delivery, deps);
    const explain = (status: number) => ({ message: refusalOf(status), broken: status === 410 });
    return post({ url: request.url, request }, deps, signal, explain, { tellsTrace: true });
  },
};

function refusalOf(status: number): string {
  if (status === 410) return 'The receiver answered 410: it is gone for good.';
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  return `The receiver answered ${status}.`;
}
