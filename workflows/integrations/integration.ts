/** Tries a connection to another service, while a person waits for the outcome. */
import { proxyActivities } from '@temporalio/workflow';
import type { IntegrationActivities } from '../../activities/integrations/integration.ts';
import type { Trial, TrialEnd } from '../../models/rules/integrations/work.ts';

const { tryConnection } = proxyActivities<IntegrationActivities>({
  // The activity makes a few calls of at most 15 s each. The request that waits for the outcome gives up after 20 s.
  startToCloseTimeout: '40 seconds',
  heartbeatTimeout: '5 seconds',
  // The activity is retried once, in case its worker dies. A refusal by the service is an outcome, not a failure, so it
  // is not retried.
  retry: { maximumAttempts: 2 },
});

export async function tryIntegration(trial: Trial): Promise<TrialEnd> {
  return tryConnection(trial);
}
