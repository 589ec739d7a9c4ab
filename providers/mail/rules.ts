import { hostPort } from '../../models/rules/base/address.ts';

export type SmtpServer = {
  /** True for TLS from the first byte (`smtps:`). Otherwise STARTTLS is used if the server offers it. */
  secure: boolean;
  /** IPv6 addresses have no brackets here. */
  host: string;
  port: number;
  user?: string;
  password?: string;
};

/** The ports of mail submission (RFC 8314 and RFC 6409). */
const ports = { 'smtps:': 465, 'smtp:': 587 } as const;

/**
 * Reads `smtp://` and `smtps://user:password@host:port`; undefined for anything else. A path or a query is refused,
 * because mail libraries read options there that turn off certificate checks.
 */
export function readSmtpUrl(text: string): SmtpServer | undefined {
  const url = text.length > 1_000 || !/^smtps?:\/\//i.test(text) ? null : URL.parse(text);
  if (!url || url.hostname === '' || !['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    return undefined;
  const secure = url.protocol === 'smtps:';
  const port = url.port === '' ? ports[secure ? 'smtps:' : 'smtp:'] : Number(url.port);
  const host = decoded(url.hostname)
    ?.replace(/^\[|\]$/g, '')
    .toLowerCase();
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (host === undefined || user === undefined || password === undefined || port === 0) return undefined;
  if ((user === '') !== (password === '')) return undefined;
  return { secure, host, port, ...(user === '' ? {} : { user, password }) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The server's URL as shown to people, without the password. */
export const smtpName = ({ secure, host, port }: SmtpServer): string =>
  `${secure ? 'smtps' : 'smtp'}://${hostPort(host, port)}`;
