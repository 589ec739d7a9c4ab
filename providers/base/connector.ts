/** The interface for connecting a service: how a credential is tested, and what is stored for the connection. */
import type { SenderDeps } from './sender.ts';
import { ServiceError } from '../../clients/http/serviceerror.ts';
import type { Connected, Connection, Integration } from '../../models/integrations/integration.ts';
import type { Attempt } from '../../models/rules/integrations/work.ts';

export type ConnectorDeps = Pick<
  SenderDeps,
  'linear' | 'github' | 'slack' | 'mailer' | 'slackApp' | 'secrets' | 'clock' | 'log'
>;

/** The service refused the connection; the message contains its answer. `unauthorized`: the credential was refused. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly unauthorized: boolean;

  constructor(message: string, { unauthorized = false, cause }: { unauthorized?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.unauthorized = unauthorized;
  }
}

/** Sends a request. @throws ConnectionRefused for a permanent error or a refused credential */
export async function refusing<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ServiceError) || !(error.unauthorized || error.permanent)) throw error;
    throw new ConnectionRefused(error.message, { unauthorized: error.unauthorized, cause: error });
  }
}

export type Connector = {
  /**
   * Exchanges a code that works only once for the credentials that `connect` takes; undefined when there is no such
   * code. The caller stores the credentials before it calls `connect`, so that a retry does not need the code again.
   * @throws as `connect`
   */
  redeem?(credentials: object, deps: ConnectorDeps): Promise<object | undefined>;
  /** Tests the credentials. @throws ConnectionRefused; any other error means that the service did not answer. */
  connect(
    candidate: Attempt & Pick<Integration, 'org_id' | 'provider'>,
    standing: Integration | null,
    deps: ConnectorDeps,
    signal: AbortSignal,
  ): Promise<Connected>;
  /** Tests the stored credentials; returns a sentence about the result. */
  test(connection: Connection, deps: ConnectorDeps, signal: AbortSignal): Promise<string>;
  /**
   * Revokes the credential, for services that support it. `keep` stores a credential that had to be renewed before it
   * could be revoked. Throws only when the service is temporarily unreachable.
   */
  release?(
    gone: { credentials: unknown; workspace: string | undefined },
    keep: (credentials: object) => Promise<void>,
    deps: ConnectorDeps,
  ): Promise<void>;
};
