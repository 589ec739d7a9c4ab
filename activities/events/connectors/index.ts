/** The services that can be connected, by provider. */
import type { Connector } from './connector.ts';
import { emailConnector } from './email.ts';
import { githubConnector } from './github.ts';
import { linearConnector } from './linear.ts';
import { slackConnector } from './slack.ts';
import type { IntegrationProvider } from '../../../models/rules/integrations/integration.ts';

export const connectors: Readonly<Partial<Record<IntegrationProvider, Connector>>> = {
  linear: linearConnector,
  slack: slackConnector,
  github: githubConnector,
  email: emailConnector,
};
