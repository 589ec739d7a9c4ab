/** The commands of `integrations`: an organization's connections to other services. */
import { command, listing, noun, type Described } from '../described.ts';
import { record } from '../output.ts';
import type { Operation } from '../../api/base/contract/operation.ts';
import * as contract from '../../api/integrations/contract/integrations.ts';

/**
 * The command that connects a service. `example`: the arguments of the example in its help, with secrets read from
 * stdin.
 */
const connect = (service: string, description: string, example: string, does: Operation): Described =>
  command({
    name: `connect ${service}`,
    description,
    examples: [`connect ${service}${example}`],
    does,
    lines: (reply, _, width) => {
      const { integration, ...others } = reply as { integration: object };
      return [...record(integration, width), ...record(others, width)];
    },
  });

export const integrations = noun({
  name: 'integrations',
  description: 'connect other services, try the connections and end them',
  login: true,
  commands: [
    listing({
      name: 'list',
      description: 'list all services and whether they are connected',
      does: contract.listIntegrations,
      entries: 'integrations',
      columns: {
        SERVICE: (one) => one.provider,
        STATUS: (one) => one.status,
        CONNECTED: (one) => one.connected_at,
        ACCOUNT: (one) => one.account,
        SETTINGS: (one) => Object.entries(one.settings).map(([name, value]) => `${name}=${String(value)}`),
        PROBLEM: (one) => one.broken_reason,
      },
      none: 'There are no services.',
    }),
    connect(
      'linear',
      'connect Linear: tickets become issues of a team',
      ' --team-id ENG --api-key - < key',
      contract.connectLinear,
    ),
    connect(
      'github',
      'connect GitHub: tasks become issues of a repository',
      ' --repository acme/support --token - < token',
      contract.connectGithub,
    ),
    connect(
      'slack',
      'connect Slack: open the address that is shown in a browser',
      ' --channel-id C0123456789',
      contract.connectSlack,
    ),
    connect(
      'email',
      'connect your own mail server',
      ' --from "Acme <help@example.com>" --smtp-url - < address',
      contract.connectEmail,
    ),
    connect('teams', 'connect Microsoft Teams: write the code that is shown to the bot', '', contract.connectTeams),
    command({
      name: 'test',
      description: 'try a connection',
      examples: ['test linear'],
      does: contract.testIntegration,
      lines: ({ message }) => [message],
    }),
    command({
      name: 'disconnect',
      description: 'end a connection; its credential is deleted',
      examples: ['disconnect slack'],
      does: contract.disconnectIntegration,
      lines: ({ integration }) => [`${integration.provider} is ${integration.status}`],
    }),
  ],
});
