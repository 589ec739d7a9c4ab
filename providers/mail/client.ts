/**
 * Sends mails by SMTP. Servers of organizations are reached under the rules for outside addresses; the deployment's own may be
 * anywhere. Names and addresses are passed to the library apart, because it reads a text as a list of recipients.
 */
import { lookup as dnsLookup } from 'node:dns';
import type { SMTPTransportOptions } from 'nodemailer';
import { BlockedAddress, openSocket, type Lookup } from '../../clients/http/connect.ts';
import { isEgressAllowed, isPublicHost } from '../../models/rules/base/address.ts';
import type { OutgoingMail } from '../../models/rules/events/mailout.ts';
import type { SmtpServer } from './rules.ts';

/** `own`: the deployment's server, which the operator chose. */
export type MailRoute = { server: SmtpServer; own: boolean };

/** A mail that was not taken. `message` is for people: the server's own words where it spoke. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** `message`: the server refuses this mail for good; `credentials`: it lets nobody in with these; `now`: a later attempt may succeed. */
  readonly what: 'message' | 'credentials' | 'now';
  /** SMTP's reply code. */
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
  /** Resolves when the server has taken the mail, with its reply. @throws MailRefused */
  send(route: MailRoute, mail: OutgoingMail, signal?: AbortSignal): Promise<{ status: number; reply: string }>;
  /** Connects, and logs in where there are credentials. @throws MailRefused */
  check(route: MailRoute): Promise<void>;
};

export type MailerOptions = { egressAllow: readonly string[]; lookup?: Lookup; timeoutMs?: number };

const maxReply = 500;

export function createMailer({ egressAllow, lookup = dnsLookup, timeoutMs = 15_000 }: MailerOptions): Mailer {
  async function transport({ server, own }: MailRoute) {
    // Loaded with the first mail: most processes send none.
    const { createTransport } = await import('nodemailer');
    const { host, port, secure, user, password } = server;
    const bracketed = host.includes(':') ? `[${host}]` : host;
    // A network in between could take the offer of encryption away and read the password.
    const requireTLS = user !== undefined && isPublicHost(bracketed) && !isEgressAllowed(bracketed, port, egressAllow);
    const connect = async (give: Parameters<NonNullable<SMTPTransportOptions['getSocket']>>[1]): Promise<void> => {
      try {
        give(null, { connection: await openSocket({ host, port, anywhere: own }, { egressAllow, lookup, timeoutMs }) });
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

  return {
    async send(route, mail, signal) {
      const mailing = await transport(route);
      signal?.throwIfAborted();
      const onAbort = (): void => mailing.close();
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        const { response } = await mailing.sendMail(messageOf(mail));
        return { status: Number(/^\d{3}/.exec(response)?.[0] ?? 250), reply: response.slice(0, maxReply) };
      } catch (error) {
        signal?.throwIfAborted();
        throw refusalOf(error);
      } finally {
        signal?.removeEventListener('abort', onAbort);
        mailing.close();
      }
    },
    async check(route) {
      const mailing = await transport(route);
      try {
        await mailing.verify();
      } catch (error) {
        throw refusalOf(error);
      } finally {
        mailing.close();
      }
    },
  };
}

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
    ...(in_reply_to === undefined ? {} : { inReplyTo: in_reply_to }),
    ...(references.length > 0 ? { references } : {}),
    headers,
    ...(calendar ? { icalEvent: { ...calendar, filename: 'interview.ics' } } : {}),
    // The one recipient; nothing that a header says adds another.
    envelope: { from: from.address, to: to.address },
  };
}

/** What an error of the library, a socket, DNS or TLS means. */
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
