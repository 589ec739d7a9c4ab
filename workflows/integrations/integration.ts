/** Tries a connection to another service, while a person waits for the outcome. */
import { proxyActivities } from '@temporalio/workflow';
import type { IntegrationActivities } from '../../activities/integrations/integration.ts';
import type { Trial, TrialEnd } from '../../models/rules/integrations/work.ts';

const { tryConnection } = proxyActivities<IntegrationActivities>({
  // A few calls of some 15 s at most; whoever waits gives up after 20 s.
  startToCloseTimeout: '40 seconds',
  heartbeatTimeout: '5 seconds',
  // Of a worker that died. What the service says is an outcome, and whoever waits may try again.
  retry: { maximumAttempts: 2 },
});

export async function tryIntegration(trial: Trial): Promise<TrialEnd> {
  return tryConnection(trial);
}
