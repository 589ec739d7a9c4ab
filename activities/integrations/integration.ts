/** Tries connections to other services with credentials that are stored encrypted in MongoDB. */
import { cancellationSignal } from '@temporalio/activity';
import { breakConnection } from '../../providers/base/broken.ts';
import { ConnectionRefused, type Connector, type ConnectorDeps } from '../../providers/base/connector.ts';
import { connectors } from './connectors.ts';
import { readErrand, writeErrand } from '../../models/base/errand.ts';
import {
  changeConnection,
  connectIntegration,
  credentialsOf,
  findConnection,
  findIntegration,
  type Connected,
} from '../../models/integrations/integration.ts';
import { createRelease } from '../../models/integrations/release.ts';
import {
  endOf,
  givesBack,
  type Attempt,
  type Trial,
  type TrialContent,
  type TrialEnd,
  type Tried,
} from '../../models/rules/integrations/work.ts';

export type IntegrationActivities = ReturnType<typeof createIntegrationActivities>;

/** `connected` is called when tickets can be sent to the service again. */
type IntegrationDeps = ConnectorDeps & { connected(orgId: string, provider: 'linear' | 'slack'): Promise<void> };

export function createIntegrationActivities(deps: IntegrationDeps) {
  /** Orders the revocation of a granted credential that was not stored, if the service supports revocation. */
  async function discard({ orgId, provider }: Trial, { sealed, workspace }: Connected): Promise<void> {
    if (sealed === undefined || !givesBack.has(provider)) return;
    const { secrets, clock } = deps;
    const credentials = credentialsOf({ org_id: orgId, provider, sealed }, secrets);
    await createRelease({ org_id: orgId, provider, credentials, workspace }, { secrets, now: clock() });
  }

  /**
   * Exchanges a code that works only once. The granted credentials replace the code in the errand, so that a retry
   * after a crash of the worker uses the credentials.
   */
  async function redeemed({ orgId, candidateId }: Trial, attempt: Attempt, connector: Connector): Promise<Attempt> {
    const credentials = await connector.redeem?.(attempt.credentials, deps);
    if (!credentials) return attempt;
    const granted = { ...attempt, credentials };
    await writeErrand(orgId, candidateId, granted satisfies TrialContent, deps.secrets);
    return granted;
  }

  async function connect(asked: Trial, attempt: Attempt, connector: Connector, signal: AbortSignal): Promise<Tried> {
    const { orgId, provider, candidateId } = asked;
    const standing = await findIntegration(orgId, provider);
    const candidate = { ...(await redeemed(asked, attempt, connector)), org_id: orgId, provider };
    const taken = await connector.connect(candidate, standing, deps, signal);
    // The API deletes the errand (the stored request) when it stops waiting, and tells its caller that the service did
    // not answer. Then the connection must not be stored. If the API stops waiting only after this check, the
    // connection is stored nevertheless.
    if (!(await readErrand(orgId, candidateId, deps.secrets))) {
      await discard(asked, taken);
      throw new Error('It took too long.');
    }
    const stored =
      standing && taken.sealed === undefined
        ? await changeConnection(standing, taken.settings, deps.clock())
        : await connectIntegration(orgId, provider, taken, deps.clock());
    if (!stored) throw new ConnectionRefused('It was disconnected or connected again meanwhile.');
    if (provider === 'linear' || provider === 'slack') await deps.connected(orgId, provider);
    return { said: `Connected to ${stored.account ?? provider}.` };
  }

  async function test({ orgId, provider }: Trial, connector: Connector, signal: AbortSignal): Promise<Tried> {
    const integration = await findConnection(orgId, provider);
    if (!integration) return { refused: 'It is not connected.' };
    try {
      return { said: await connector.test(integration, deps, signal) };
    } catch (error) {
      if (error instanceof ConnectionRefused && error.unauthorized)
        await breakConnection(integration, error.message, deps);
      throw error;
    }
  }

  async function trial(asked: Trial, attempt: Attempt, signal: AbortSignal): Promise<Tried> {
    const connector = connectors[asked.provider];
    if (!connector) return { refused: 'This provider cannot be connected.' };
    try {
      if (asked.what === 'test') return await test(asked, connector, signal);
      return await connect(asked, attempt, connector, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConnectionRefused) return { refused: error.message };
      deps.log.warn({ err: error, org_id: asked.orgId, provider: asked.provider }, 'a connection could not be tried');
      return { unanswered: (error as Error).message.slice(0, 300) };
    }
  }

  return {
    /** Tries a connection and stores the outcome. A refusal by the service is an outcome, not a failure. */
    tryConnection: async (asked: Trial): Promise<TrialEnd> => {
      const { orgId, candidateId } = asked;
      const content = await readErrand<TrialContent>(orgId, candidateId, deps.secrets);
      if (!content) return 'unanswered';
      // An earlier execution may have stored the outcome and died before it returned.
      const outcome = 'outcome' in content ? content.outcome : await trial(asked, content, cancellationSignal());
      await writeErrand(orgId, candidateId, { outcome } satisfies TrialContent, deps.secrets);
      return endOf(outcome);
    },
  };
}
