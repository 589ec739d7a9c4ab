/** Revokes the credentials of ended connections at their services. */
import type { ConnectorDeps } from '../../providers/base/connector.ts';
import { connectors } from './connectors.ts';
import { findRelease, keepReleased, releasedCredentials, removeRelease } from '../../models/integrations/release.ts';
import type { ReleaseRef } from '../../models/rules/integrations/work.ts';

export type ReleaseActivities = ReturnType<typeof createReleaseActivities>;

export function createReleaseActivities(deps: ConnectorDeps) {
  async function release({ orgId, releaseId }: ReleaseRef): Promise<void> {
    const found = await findRelease(orgId, releaseId);
    // An earlier attempt has revoked the credentials already.
    if (!found) return;
    const { secrets } = deps;
    const gone = { credentials: releasedCredentials(found, secrets), workspace: found.workspace };
    await connectors[found.provider]?.release?.(gone, (renewed) => keepReleased(found._id, renewed, secrets), deps);
    await removeRelease(found._id);
    deps.log.info({ org_id: orgId, provider: found.provider }, 'a credential was given back');
  }

  return {
    /** Revokes the credentials. Throws while the service is unavailable, so that Temporal retries. */
    giveBack: release,
  };
}
