/** The workflows that test a connection to a service and that revoke a credential. Pure. */
import { workOf } from '../base/work.ts';
import type { IntegrationProvider } from './integration.ts';

/** A test of a connection. `connect`: tests new credentials and stores them. `test`: tests the stored credentials. */
export type Trial = {
  orgId: string;
  provider: IntegrationProvider;
  what: 'connect' | 'test';
  /**
   * The id of the record in `errands` that holds the credentials and, after the test, the result. The workflow's
   * history contains neither.
   */
  candidateId: string;
};

/**
 * The result of a test, as text for members. `said`: the test succeeded. `refused`: the error message of the service.
 * `unanswered`: the service could not be reached.
 */
export type Tried = { said: string } | { refused: string } | { unanswered: string };

/**
 * The new credentials to test, and the settings to store with them if the test succeeds. Both are empty when the stored
 * credentials are tested.
 */
export type Attempt = { credentials: object; settings: Record<string, unknown> };
/**
 * The content of the record in `errands`. Credentials that were granted for a code replace the code. The result then
 * replaces the attempt, so that the credentials are deleted.
 */
export type TrialContent = Attempt | { outcome: Tried };

/** The result of a test without its text, for the workflow, because the text may contain names of people. */
export type TrialEnd = 'said' | 'refused' | 'unanswered';
export const endOf = (tried: Tried): TrialEnd =>
  'said' in tried ? 'said' : 'refused' in tried ? 'refused' : 'unanswered';

export const tryIntegrationWork = (trial: Trial) =>
  workOf('tryIntegration', 'inbound', `integration:${trial.orgId}.${trial.provider}:${trial.candidateId}`, [trial]);

/**
 * The services whose API can revoke a credential. Credentials of other services are only deleted here, and their owner
 * must revoke them at the service.
 */
export const givesBack: ReadonlySet<IntegrationProvider> = new Set(['slack']);

/** How long a failed revocation is retried, in ms: longer than an outage of a service is likely to last. */
export const releaseTriedForMs = 7 * 86_400_000;

export type ReleaseRef = { orgId: string; releaseId: string };
/** The workflow that revokes a credential at its service. */
export const releaseCredentialWork = (orgId: string, releaseId: string) =>
  workOf('releaseCredential', 'inbound', `release:${releaseId}`, [{ orgId, releaseId } satisfies ReleaseRef]);
