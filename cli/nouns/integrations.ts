/** The commands of `integrations`: an organization's connections to other services. */
import type { z } from 'zod';
import { command, listing, noun, type Described } from '../described.ts';
import { record } from '../output.ts';
import * as contract from '../../api/integrations/contract/integrations.ts';

const path = '/orgs/{orgId}/integrations';
const provider = contract.integration.shape.provider.options;

/**
 * The command that connects a service. `example`: the arguments of the example in its help, with secrets read from
 * stdin.
 */
const connect = (
  service: string,
  {
    description,
    example,
    ...contracts
  }: Pick<Described, 'description' | 'reply'> & { body?: z.ZodType; example: string },
): Described =>
  command({
    name: `connect ${service}`,
    description,
    examples: [`connect ${service}${example}`],
    route: `PUT ${path}/${service}`,
    ...contracts,
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
      route: `GET ${path}`,
      reply: contract.integrationList,
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
    connect('linear', {
      description: 'connect Linear: tickets become issues of a team',
      example: ' --team-id ENG --api-key - < key',
      body: contract.linearBody,
      reply: contract.integrationReply,
    }),
    connect('github', {
      description: 'connect GitHub: tasks become issues of a repository',
      example: ' --repository acme/support --token - < token',
      body: contract.githubBody,
      reply: contract.integrationReply,
    }),
    connect('slack', {
      description: 'connect Slack: open the address that is shown in a browser',
      example: ' --channel-id C0123456789',
      body: contract.slackBody,
      reply: contract.slackReply,
    }),
    connect('email', {
      description: 'connect your own mail server',
      example: ' --from "Acme <help@example.com>" --smtp-url - < address',
      body: contract.emailBody,
      reply: contract.integrationReply,
    }),
    connect('teams', {
      description: 'connect Microsoft Teams: write the code that is shown to the bot',
      example: '',
      reply: contract.teamsReply,
    }),
    command({
      name: 'test',
      description: 'try a connection',
      examples: ['test linear'],
      route: `POST ${path}/{provider}/test`,
      choices: { provider },
      reply: contract.testReply,
      lines: ({ message }) => [message],
    }),
    command({
      name: 'disconnect',
      description: 'end a connection; its credential is deleted',
      examples: ['disconnect slack'],
      route: `DELETE ${path}/{provider}`,
      choices: { provider },
      reply: contract.integrationReply,
      lines: ({ integration }) => [`${integration.provider} is ${integration.status}`],
    }),
  ],
});
