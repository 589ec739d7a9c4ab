/**
 * Deliveries: what is sent to a destination, in which states, and how a failure is told apart from one that another attempt
 * may mend. Pure; models/events/delivery.ts stores them, activities/events/deliver.ts sends them.
 */

export const deliveryKinds = ['webhook', 'slack', 'linear', 'github', 'email', 'notification'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

/**
 * `pending`: not tried yet. `retrying`: the last attempt failed and another one follows. `failed`: no further one follows.
 * `suppressed`: a delivery of test mode, which is never sent.
 */
export const deliveryStatuses = ['pending', 'delivered', 'retrying', 'failed', 'suppressed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
/** Those that are still to be sent. */
export const outstanding: readonly DeliveryStatus[] = ['pending', 'retrying'];

/** The type of an event that somebody sends to see that the destination takes it. */
export const testEventType = 'test';

/** A delivery and its attempts are kept this long after it was made, or asked for again; far longer than it is tried. */
export const deliveryDays = 30;
/** Attempts kept of one delivery, the newest; redeliveries add some. */
export const maxAttempts = 50;
/** Of a reply's body, in characters. */
export const maxResponseHead = 500;

/** The request of an attempt, as it was or would be sent. */
export type OutgoingRequest = {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
};

/** What an attempt that was not refused brought. */
export type Sent = {
  status_code?: number | undefined;
  response_head?: string | undefined;
  request?: OutgoingRequest | undefined;
  /** What the receiver made of it. */
  result?: { id?: string; url?: string } | undefined;
};

export type Refusal = Omit<Sent, 'result'> & {
  /** Further attempts would end the same way. */
  permanent?: boolean;
  /** The destination as a whole is of no use any more, such as a webhook that answered 410: it is disabled. */
  broken?: boolean;
  /** How long the receiver asked to wait. */
  retryAfterMs?: number | undefined;
  /** The receiver did not answer in time, so that further attempts must not hold up others. */
  timedOut?: boolean;
  cause?: unknown;
};

/** An attempt that failed; its message is shown to members. @see Refusal */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal = {}) {
    super(message, { cause: refusal.cause });
    this.refusal = refusal;
  }
}

/** Whether a delivery has a receiver of its own, such as one person, so that its failures say nothing about others. */
export const hasOwnReceiver = ({ kind, lane }: { kind: DeliveryKind; lane: string }): boolean =>
  kind === 'email' || (kind === 'notification' && lane !== 'slack');

/** Deliveries of one line are sent in order. Those of a ticket go in order for each of its destinations. */
export const ticketLine = (ticketId: string, lane: string): string => `${ticketId}:${lane}`;

/** Names of headers whose values let whoever reads them act as somebody. */
const secretHeader = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|.*(token|secret|password).*)$/i;
const mask = '***';

export const maskHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? mask : value]));

/** Values in an address' query, which often are tokens, are masked; Slack's webhooks carry theirs in the path. */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  if (url.password !== '') url.password = mask;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask);
  if (/(^|\.)hooks\.slack\.com$/.test(url.hostname)) url.pathname = `/services/${mask}`;
  return url.href.replaceAll('%2A%2A%2A', mask);
}
