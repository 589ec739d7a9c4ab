/**
 * Decides which server and which sender address an organization's mails use: its own if it connected a server,
 * otherwise the deployment's.
 */
import type { Logger } from 'pino';
import { breakConnection } from '../base/broken.ts';
import type { MailRoute } from './client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { credentialsOf, findConnection } from '../../models/integrations/integration.ts';
import { readMailbox, type Mailbox } from '../../models/rules/access/mailbox.ts';
import { readSmtpUrl, type SmtpServer } from './rules.ts';

export type MailSettings = {
  /** The deployment's server. When it is missing, only organizations with their own server can send. */
  server: SmtpServer | undefined;
  from: Mailbox | undefined;
  /** The domain of reply addresses. Without it customers cannot answer by mail. */
  replyDomain: string | undefined;
  /** The daily quota of mails to people who are no members, for an organization and for an account. */
  outsidePerDay: number;
};
export type MailDeps = { mail: MailSettings };

/** Whose server sends a mail. The mail's sender address belongs to that server. */
export type MailVia = 'deployment' | 'organization';

/**
 * The sender address of an organization's mails, and whether its own server or the deployment's sends them at present.
 */
export async function senderOf(
  { mail: { from, replyDomain } }: MailDeps,
  orgId: string,
): Promise<{ from: Mailbox; via: MailVia }> {
  const own = readMailbox(String((await findConnection(orgId, 'email'))?.settings['from']));
  if (own) return { from: own, via: 'organization' };
  return { from: from ?? { name: '', address: `support@${replyDomain ?? 'localhost.invalid'}` }, via: 'deployment' };
}

export type RouteDeps = MailDeps & { secrets: SecretBox; clock: () => Date; log: Logger };

export type RouteOf = MailRoute & { refused?(reason: string): Promise<void> };

/**
 * The server that sends a mail. Undefined when there is none, or when the organization has disconnected the server that
 * belongs to the mail's sender address. `refused` records that the server rejects the credentials.
 */
export async function routeOf(deps: RouteDeps, orgId: string, via: MailVia): Promise<RouteOf | undefined> {
  const { server } = deps.mail;
  if (via === 'deployment') return server && { server, own: true };
  const integration = await findConnection(orgId, 'email');
  if (!integration) return undefined;
  const own = readSmtpUrl((credentialsOf(integration, deps.secrets) as { smtp_url: string }).smtp_url);
  return own && { server: own, own: false, refused: (reason) => breakConnection(integration, reason, deps) };
}

/** Whether the organization has no server at present that could send its mails. */
export const hasNoServer = async (orgId: string, deps: RouteDeps): Promise<boolean> =>
  (await routeOf(deps, orgId, (await senderOf(deps, orgId)).via)) === undefined;
