/** What a service is to the machinery that connects: how a credential is tried, and what is kept of it. */
import type { Logger } from 'pino';
import { ServiceError } from '../../clients/http/serviceerror.ts';
import type { Github } from '../github/client.ts';
import type { Linear } from '../linear/client.ts';
import type { Mailer } from '../mail/client.ts';
import type { Slack } from '../slack/client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Candidate } from '../../models/integrations/candidate.ts';
import type { Connected, Integration } from '../../models/integrations/integration.ts';

export type ConnectorDeps = {
  linear: Linear;
  github: Github;
  slack: Slack;
  mailer: Mailer;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  secrets: SecretBox;
  clock: () => Date;
  log: Logger;
};

/** The service refused; the message has its own word. `unauthorized`: it does not take the credential. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly unauthorized: boolean;

  constructor(message: string, { unauthorized = false, cause }: { unauthorized?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.unauthorized = unauthorized;
  }
}

/** Asks the service; what it refuses, or will always refuse, is a refusal of the connection. @throws ConnectionRefused */
export async function refusing<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ServiceError) || !(error.unauthorized || error.permanent)) throw error;
    throw new ConnectionRefused(error.message, { unauthorized: error.unauthorized, cause: error });
  }
}

export type Connector = {
  /** Tries the credentials. @throws ConnectionRefused; anything else means that the service did not answer. */
  connect(
    candidate: Candidate & { sealed: string },
    standing: Integration | null,
    deps: ConnectorDeps,
    signal: AbortSignal,
  ): Promise<Connected>;
  /** Tries what is stored; the sentence says what was found. */
  test(integration: Integration & { sealed: string }, deps: ConnectorDeps, signal: AbortSignal): Promise<string>;
  /**
   * Gives the credential back where the service takes it. `keep` stores it anew when it had to be renewed for that. It throws only
   * when the service could not be asked now.
   */
  release?(
    gone: { credentials: unknown; workspace: string | undefined },
    keep: (credentials: object) => Promise<void>,
    deps: ConnectorDeps,
  ): Promise<void>;
};
