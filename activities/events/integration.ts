/** Tries connections to other services, with the credentials that are sealed in MongoDB. */
import { breakConnection } from './broken.ts';
import { ConnectionRefused, type Connector, type ConnectorDeps } from './connectors/connector.ts';
import { connectors } from './connectors/index.ts';
import { withHeartbeat } from '../base/heartbeat.ts';
import { candidateCredentials, findCandidate, removeCandidate } from '../../models/events/candidate.ts';
import { enableDestination } from '../../models/events/destination.ts';
import { connectIntegration, findIntegration } from '../../models/events/integration.ts';
import type { Trial, Tried } from '../../models/rules/events/integrationwork.ts';

export type IntegrationActivities = ReturnType<typeof createIntegrationActivities>;

export function createIntegrationActivities(deps: ConnectorDeps) {
  async function connect({ orgId, provider, candidateId }: Trial, connector: Connector, signal: AbortSignal) {
    const candidate = candidateId === undefined ? null : await findCandidate(orgId, candidateId);
    // An attempt before this one has taken it, and died before it could say so.
    if (!candidate) return { unanswered: 'This was tried before, or too long ago.' };
    const standing = await findIntegration(orgId, provider);
    const taken = await connector.connect(candidate, standing, deps, signal);
    const { account } = await connectIntegration(orgId, provider, taken, deps.clock());
    await removeCandidate(orgId, candidate._id);
    if (provider === 'linear' || provider === 'slack') await enableDestination(orgId, provider);
    return { said: `Connected to ${account ?? provider}.` };
  }

  async function test({ orgId, provider }: Trial, connector: Connector, signal: AbortSignal): Promise<Tried> {
    const integration = await findIntegration(orgId, provider);
    const sealed = integration?.sealed;
    if (!integration || sealed === undefined) return { refused: 'It is not connected.' };
    try {
      return { said: await connector.test({ ...integration, sealed }, deps, signal) };
    } catch (error) {
      if (error instanceof ConnectionRefused && error.unauthorized)
        await breakConnection(integration, error.message, deps);
      throw error;
    }
  }

  async function release({ orgId, candidateId }: Trial, connector: Connector): Promise<Tried> {
    const candidate = candidateId === undefined ? null : await findCandidate(orgId, candidateId);
    if (!candidate) return { said: 'There is nothing to give back.' };
    const workspace = candidate.settings['workspace'] as string | undefined;
    await connector.release?.({ credentials: candidateCredentials(candidate, deps.secrets), workspace }, deps);
    await removeCandidate(orgId, candidate._id);
    return { said: 'Given back.' };
  }

  async function trial(asked: Trial, signal: AbortSignal): Promise<Tried> {
    const connector = connectors[asked.provider];
    if (!connector) return { refused: 'This provider cannot be connected.' };
    try {
      if (asked.what === 'connect') return await connect(asked, connector, signal);
      return await (asked.what === 'test' ? test(asked, connector, signal) : release(asked, connector));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConnectionRefused) {
        if (asked.candidateId !== undefined) await removeCandidate(asked.orgId, asked.candidateId);
        return { refused: error.message };
      }
      deps.log.warn({ err: error, org_id: asked.orgId, provider: asked.provider }, 'a connection could not be tried');
      return { unanswered: (error as Error).message.slice(0, 300) };
    }
  }

  return {
    /** Does a trial; what the service says is an outcome, not a failure. */
    tryConnection: (asked: Trial) => withHeartbeat((signal) => trial(asked, signal)),
  };
}
