/**
 * Deliveries: their kinds and states, and which failures are retried. Pure; models/events/delivery.ts stores
 * deliveries, and activities/events/deliver.ts sends them.
 */

export const deliveryKinds = ['webhook', 'slack', 'linear', 'github', 'email', 'notification'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

/**
 * `pending`: not tried yet. `retrying`: the last attempt failed, and another one follows. `failed`: all attempts
 * failed. `suppressed`: stored for members to read, but never sent, for example in test mode.
 */
export const deliveryStatuses = ['pending', 'delivered', 'retrying', 'failed', 'suppressed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
/** The states of deliveries that are still to be sent. */
export const outstanding: readonly DeliveryStatus[] = ['pending', 'retrying'];

/** The type of a test event, which a member sends to check a destination. */
export const testEventType = 'test';

/** The maximum number of stored attempts of one delivery; the newest are kept. */
export const maxAttempts = 50;
/** The stored beginning of a response's body, in characters. */
export const maxResponseHead = 500;

/** The request of an attempt, as it was or would be sent. */
export type OutgoingRequest = {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
};

/** The result of an attempt that the receiver accepted. */
export type Sent = {
  status_code?: number | undefined;
  response_head?: string | undefined;
  request?: OutgoingRequest | undefined;
  /** The object that the receiver created, such as an issue. */
  result?: { id?: string; url?: string } | undefined;
};

export type Refusal = Omit<Sent, 'result'> & {
  /** True when a retry would fail in the same way. */
  permanent?: boolean;
  /**
   * True when there is no receiver or place to send to. When a task is executed, its step for this service is then
   * skipped.
   */
  nowhere?: boolean;
  /** True when the credential is refused: retries succeed only after the service is connected again. */
  unauthorized?: boolean;
  /** True when the whole destination no longer works, such as a webhook that answered 410. It is then disabled. */
  broken?: boolean;
  /** The receiver's requested delay before a retry, in ms. */
  retryAfterMs?: number | undefined;
  /** True when the receiver did not answer in time, so that retries must not hold up other deliveries. */
  timedOut?: boolean;
  /** True when members are not notified of the failure, because nobody can mend it. */
  quiet?: boolean;
  cause?: unknown;
};

/** A failed attempt; members see the message. @see Refusal */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal = {}) {
    super(message, { cause: refusal.cause });
    this.refusal = refusal;
  }
}

/**
 * Whether the request of a failed attempt may have arrived nevertheless: the receiver gave no answer, or answered that
 * the request took too long, or with a server error.
 */
export const mayHaveArrived = ({ status_code }: Refusal): boolean =>
  status_code === undefined || status_code === 408 || status_code >= 500;

/**
 * Whether a delivery has a receiver of its own, such as one person, so that its failure says nothing about other
 * deliveries.
 */
export const hasOwnReceiver = ({ kind, lane }: { kind: DeliveryKind; lane: string }): boolean =>
  kind === 'email' || (kind === 'notification' && lane !== 'slack');

/** The line of a delivery; deliveries of one line are sent in order. A ticket has one line for each destination. */
export const ticketLine = (ticketId: string, lane: string): string => `${ticketId}:${lane}`;

/** Names of headers whose values are credentials. */
const secretHeader = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|.*(token|secret|password).*)$/i;
const mask = '***';

export const maskHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? mask : value]));

/**
 * Masks the password and the query values of a URL, which are often tokens, and the path of a Slack webhook, which
 * contains its token.
 */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  if (url.password !== '') url.password = mask;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask);
  if (/(^|\.)hooks\.slack\.com$/.test(url.hostname)) url.pathname = `/services/${mask}`;
  return url.href.replaceAll('%2A%2A%2A', mask);
}
