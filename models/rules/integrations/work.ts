/** The work of trying a connection, and of giving a credential back, by the names that records and workflows share. Pure. */
import { workOf } from '../base/work.ts';
import type { IntegrationProvider } from './integration.ts';

/** `connect`: tries a candidate and stores it. `test`: tries what is stored. */
export type Trial = {
  orgId: string;
  provider: IntegrationProvider;
  what: 'connect' | 'test';
  /** Where the credentials are, sealed, and where the outcome is stored: a workflow carries neither. */
  candidateId: string;
};

/** `refused`: the service's own word. `unanswered`: the service could not be asked. */
export type Tried = { said: string } | { refused: string } | { unanswered: string };

/** How it ended, as the workflow is told: what a service says may name people. */
export type TrialEnd = 'said' | 'refused' | 'unanswered';
export const endOf = (tried: Tried): TrialEnd =>
  'said' in tried ? 'said' : 'refused' in tried ? 'refused' : 'unanswered';

/** Tries a connection. */
export const tryIntegrationWork = (trial: Trial) =>
  workOf({
    workflow: 'tryIntegration',
    id: `integration:${trial.orgId}.${trial.provider}:${trial.candidateId}`,
    queue: 'inbound',
    args: [trial],
  });

/** The services that take a credential back; of the others it is forgotten, and its owner ends it there. */
export const givesBack: ReadonlySet<IntegrationProvider> = new Set(['slack']);

/** For so long giving back is tried, in ms: longer than any outage of a service. */
export const releaseTriedForMs = 7 * 86_400_000;

export type ReleaseRef = { orgId: string; releaseId: string };
/** Has a credential given back. */
export const releaseCredentialWork = (orgId: string, releaseId: string) =>
  workOf({
    workflow: 'releaseCredential',
    id: `release:${releaseId}`,
    queue: 'inbound',
    args: [{ orgId, releaseId } satisfies ReleaseRef],
  });
