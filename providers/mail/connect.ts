/**
 * Connects an organization's own mail server. The address must pass the checks for outbound addresses, and the login is
 * tried.
 */
import { ConnectionRefused, type Connector, type ConnectorDeps } from '../base/connector.ts';
import { MailRefused } from './client.ts';
import { credentialsOf, sealCredentials } from '../../models/integrations/integration.ts';
import { addressText } from '../../models/rules/events/mailout.ts';
import { readMailbox } from '../../models/rules/access/mailbox.ts';
import { readSmtpUrl, smtpName, type SmtpServer } from './rules.ts';

export type MailCredentials = { smtp_url: string };

async function check(server: SmtpServer, { mailer }: ConnectorDeps, signal: AbortSignal): Promise<void> {
  try {
    await mailer.check({ server, own: false }, signal);
  } catch (error) {
    if (!(error instanceof MailRefused) || error.what === 'now') throw error;
    throw new ConnectionRefused(error.message, { unauthorized: error.what === 'credentials', cause: error });
  }
}

const serverIn = (credentials: unknown): SmtpServer | undefined =>
  readSmtpUrl((credentials as MailCredentials).smtp_url);

export const emailConnector: Connector = {
  async connect(candidate, _standing, deps, signal) {
    const { settings } = candidate;
    const credentials = candidate.credentials as MailCredentials;
    const server = serverIn(credentials);
    const from = readMailbox(String(settings['from']));
    if (!server || !from) throw new ConnectionRefused('The server or the address is not valid.');
    await check(server, deps, signal);
    return {
      account: from.address,
      settings: { from: addressText(from), server: smtpName(server) },
      sealed: sealCredentials(candidate, credentials, deps.secrets),
    };
  },
  async test(integration, deps, signal) {
    const { settings } = integration;
    const server = serverIn(credentialsOf(integration, deps.secrets));
    if (!server) throw new ConnectionRefused('The server’s address is not valid.');
    await check(server, deps, signal);
    return `${String(settings['server'])} takes the connection.`;
  },
};
