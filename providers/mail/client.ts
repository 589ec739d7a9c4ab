/**
 * Sends mails by SMTP. An organization's server must pass the checks for outbound addresses; the deployment's own
 * server may have any address. Names and addresses go to the library as separate fields, because the library would
 * parse one joined text as a list of recipients.
 */
import { lookup as dnsLookup } from 'node:dns';
import type { SMTPTransportOptions } from 'nodemailer';
import { inSpan } from '../../clients/base/tracing.ts';
import { BlockedAddress, openSocket, type Lookup } from '../../clients/http/connect.ts';
import { isEgressAllowed, isPublicHost } from '../../models/rules/base/address.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';
import type { SmtpServer } from './rules.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** `own`: whether this is the deployment's server, which the operator chose. */
export type MailRoute = { server: SmtpServer; own: boolean };

/** The server did not accept a mail. `message` is shown to people and quotes the server's reply if there was one. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /**
   * `message`: the server rejects this mail permanently. `credentials`: the login failed, or the server's address is
   * not allowed. `now`: a retry may succeed.
   */
  readonly what: 'message' | 'credentials' | 'now';
  readonly status: number | undefined;
  readonly timedOut: boolean;

  constructor(
    what: MailRefused['what'],
    message: string,
    { status, cause }: { status?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause });
    this.what = what;
    this.status = status;
    this.timedOut = (cause as { code?: unknown } | undefined)?.code === 'ETIMEDOUT';
  }
}

export type Mailer = {
  /** Resolves with the server's reply once the server has accepted the mail. @throws MailRefused */
  send(route: MailRoute, mail: OutgoingMail, signal?: AbortSignal): Promise<{ status: number; reply: string }>;
  /** Connects, and logs in when the server has credentials. @throws MailRefused */
  check(route: MailRoute, signal?: AbortSignal): Promise<void>;
};

/** `timeoutMs`: the longest silence of the server. `totalTimeoutMs`: the longest session. */
export type MailerOptions = {
  egressAllow: readonly string[];
  lookup?: Lookup;
  timeoutMs?: number;
  totalTimeoutMs?: number;
};

const maxReply = 500;

export function createMailer({
  egressAllow,
  lookup = dnsLookup,
  timeoutMs = 15_000,
  // The activity that tests a connection has 40 s, so a session must end before that.
  totalTimeoutMs = 30_000,
}: MailerOptions): Mailer {
  /** When `signal` is aborted, the connection is closed at once. */
  async function transport({ server, own }: MailRoute, signal: AbortSignal) {
    // The library is loaded lazily, because most processes send no mail.
    const { createTransport } = await import('nodemailer');
    const { host, port, secure, user, password } = server;
    const bracketed = host.includes(':') ? `[${host}]` : host;
    // Without `requireTLS`, an attacker on the network could strip the offer of STARTTLS and read the password.
    const requireTLS = user !== undefined && isPublicHost(bracketed) && !isEgressAllowed(bracketed, port, egressAllow);
    const connect = async (give: Parameters<NonNullable<SMTPTransportOptions['getSocket']>>[1]): Promise<void> => {
      try {
        const connection = await openSocket({ host, port, anywhere: own }, { egressAllow, lookup, timeoutMs });
        const end = (): void => void connection.destroy();
        if (signal.aborted) end();
        signal.throwIfAborted();
        signal.addEventListener('abort', end, { once: true });
        give(null, { connection });
      } catch (error) {
        give(error as Error, false);
      }
    };
    return createTransport({
      host,
      port,
      secure,
      requireTLS: requireTLS && !secure,
      ...(user === undefined ? {} : { auth: { user, pass: password ?? '' }, forceAuth: true }),
      tls: { servername: bracketed.startsWith('[') || /^[\d.]+$/.test(host) ? '' : host },
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options, give) => void connect(give),
    });
  }

  const traced = <T>(what: string, { server }: MailRoute, work: () => Promise<T>): Promise<T> =>
    inSpan(what, { kind: 'client', attributes: { 'server.address': server.host } }, work);

  /**
   * Runs a session with a server and destroys its socket afterwards. The total time is limited here, because the
   * library's timers start again with each line that the server sends.
   */
  async function session<T>(
    route: MailRoute,
    outer: AbortSignal | undefined,
    work: (mailing: Awaited<ReturnType<typeof transport>>, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const over = new AbortController();
    const limit = AbortSignal.timeout(totalTimeoutMs);
    const signal = AbortSignal.any([over.signal, limit, ...(outer === undefined ? [] : [outer])]);
    try {
      const mailing = await transport(route, signal);
      signal.throwIfAborted();
      return await work(mailing, signal);
    } catch (error) {
      outer?.throwIfAborted();
      throw refusalOf(limit.aborted ? tooLong() : error);
    } finally {
      over.abort();
    }
  }

  return {
    send: (route, mail, outer) =>
      traced('SMTP send', route, () =>
        session(route, outer, async (mailing, signal) => {
          const { response } = await mailing.sendMail({ ...messageOf(mail), signal });
          return { status: Number(/^\d{3}/.exec(response)?.[0] ?? 250), reply: response.slice(0, maxReply) };
        }),
      ),
    check: (route, outer) =>
      traced('SMTP check', route, () =>
        session(route, outer, async (mailing) => {
          await mailing.verify();
        }),
      ),
  };
}

const tooLong = (): Error => Object.assign(new Error('the session took too long'), { code: 'ETIMEDOUT' });

function messageOf({
  from,
  to,
  reply_to,
  subject,
  text,
  date,
  message_id,
  in_reply_to,
  references,
  headers,
  calendar,
}: OutgoingMail) {
  return {
    from,
    to,
    ...(reply_to ? { replyTo: reply_to } : {}),
    subject,
    text,
    date: new Date(date),
    messageId: message_id,
    ...defined({ inReplyTo: in_reply_to }),
    ...(references.length > 0 ? { references } : {}),
    headers,
    ...(calendar ? { icalEvent: { ...calendar, filename: 'interview.ics' } } : {}),
    // The explicit envelope makes sure that no header adds a recipient.
    envelope: { from: from.address, to: to.address },
  };
}

/** Maps an error of the library, a socket, DNS or TLS to the refusal it means. */
function refusalOf(error: unknown): MailRefused {
  const { code = '', responseCode, response } = error as { code?: string; responseCode?: number; response?: string };
  const said = response === undefined ? undefined : response.replace(/\s+/g, ' ').slice(0, maxReply);
  const refuse = (what: MailRefused['what'], message: string) =>
    new MailRefused(what, message, { status: responseCode, cause: error });
  const lasting = responseCode !== undefined && responseCode >= 500;
  if (error instanceof BlockedAddress)
    return refuse(
      'credentials',
      'The mail server is in a private network, which the operator does not allow (EGRESS_ALLOW).',
    );
  if ((code === 'EAUTH' || code === 'ENOAUTH') && (lasting || responseCode === undefined))
    return refuse('credentials', `The mail server refused the credentials: ${said ?? (error as Error).message}`);
  if (lasting && code !== 'EAUTH') return refuse('message', `The mail server refused the mail: ${said}`);
  if (said !== undefined) return refuse('now', `The mail server did not take the mail: ${said}`);
  return refuse(
    'now',
    `${reasons[code] ?? 'The connection to the mail server failed'}: ${(error as Error).message}`.slice(0, maxReply),
  );
}

const reasons: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'The mail server did not answer in time',
  EDNS: 'The mail server’s name could not be resolved',
  ETLS: 'No encrypted connection to the mail server could be made',
  EPROTOCOL: 'The mail server did not speak SMTP',
};
