/** The work of trying a connection, by the names that the API and workflows share. Pure. */
import type { IntegrationProvider } from './integration.ts';

/** `connect`: tries a candidate and stores it. `test`: tries what is stored. `release`: gives back what was disconnected. */
export type Trial = {
  orgId: string;
  provider: IntegrationProvider;
  what: 'connect' | 'test' | 'release';
  /** The sealed credentials in their collection; a workflow carries none. */
  candidateId?: string;
};

/** `refused`: the service's own word. `unanswered`: the service could not be asked. */
export type Tried = { said: string } | { refused: string } | { unanswered: string };

export const trialWorkflowId = (orgId: string, provider: IntegrationProvider, id: string): string =>
  `integration:${orgId}.${provider}:${id}`;
