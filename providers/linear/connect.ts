/** Connects an organization to Linear with an API key and a team. */
import { ConnectionRefused, refusing, type Connector } from '../base/connector.ts';
import { credentialsOf, sealCredentials, signingPlace } from '../../models/integrations/integration.ts';
import { linearExternal } from './rules.ts';

export type LinearCredentials = { api_key: string };
type Candidates = LinearCredentials & { webhook_secret?: string };

export const linearConnector: Connector = {
  async connect(candidate, _standing, { linear, secrets }, signal) {
    const { api_key: key, webhook_secret: secret } = candidate.credentials as Candidates;
    const { organization, team } = await refusing(() =>
      linear.account(key, String(candidate.settings['team_id']), signal),
    );
    if (!team) throw new ConnectionRefused('Linear says: there is no such team.');
    return {
      account: organization.name,
      // Callers may name the team by its key, but events name a team by its id.
      settings: { team_id: team.id, team_key: team.key, team_name: team.name },
      sealed: sealCredentials(candidate, { api_key: key } satisfies LinearCredentials, secrets),
      workspace: organization.id,
      events_of: linearExternal(team.id),
      ...(secret === undefined ? {} : { sealed_signing: secrets.seal(secret, signingPlace(candidate)) }),
    };
  },
  async test(integration, { linear, secrets }, signal) {
    const { settings } = integration;
    const { api_key: key } = credentialsOf(integration, secrets) as LinearCredentials;
    const { organization, team } = await refusing(() => linear.account(key, String(settings['team_id']), signal));
    if (!team) throw new ConnectionRefused('Linear says: the team is gone.');
    return `Linear takes the key for the team ${team.name} of ${organization.name}.`;
  },
};
