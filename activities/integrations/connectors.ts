import type { Connector } from '../../providers/base/connector.ts';
import { emailConnector } from '../../providers/mail/connect.ts';
import { githubConnector } from '../../providers/github/connect.ts';
import { linearConnector } from '../../providers/linear/connect.ts';
import { slackConnector } from '../../providers/slack/connect.ts';
import type { IntegrationProvider } from '../../models/rules/integrations/integration.ts';

export const connectors: Readonly<Partial<Record<IntegrationProvider, Connector>>> = {
  linear: linearConnector,
  slack: slackConnector,
  github: githubConnector,
  email: emailConnector,
};
