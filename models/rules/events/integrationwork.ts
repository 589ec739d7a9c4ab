/** The work of trying a connection, by the names that the API and workflows share. Pure. */
import type { IntegrationProvider } from './integration.ts';

/** `connect`: tries a candidate and stores it. `test`: tries what is stored. `release`: gives back what was disconnected. */
export type Trial = {
  orgId: string;
  provider: IntegrationProvider;
  what: 'connect' | 'test' | 'release';
  /** Where the credentials are, sealed, and where the outcome is stored: a workflow carries neither. */
  candidateId: string;
};

/** `refused`: the service's own word. `unanswered`: the service could not be asked. */
export type Tried = { said: string } | { refused: string } | { unanswered: string };

/** How it ended, as the workflow is told: what a service says may name people. */
export type TrialEnd = 'said' | 'refused' | 'unanswered';
export const endOf = (tried: Tried): TrialEnd =>
  'said' in tried ? 'said' : 'refused' in tried ? 'refused' : 'unanswered';

export const trialWorkflowId = (orgId: string, provider: IntegrationProvider, id: string): string =>
  `integration:${orgId}.${provider}:${id}`;
