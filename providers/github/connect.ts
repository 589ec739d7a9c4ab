/** Connects an organization to GitHub with a token and a repository. */
import { ConnectionRefused, refusing, type Connector } from '../base/connector.ts';
import type { Github, GithubRepository } from './client.ts';
import { credentialsOf, sealCredentials, signingPlace } from '../../models/integrations/integration.ts';
import { githubExternal } from './rules.ts';

export type GithubCredentials = { token: string };
type Candidates = GithubCredentials & { webhook_secret?: string };

/** The token's account, and the repository as read with the token. @throws ConnectionRefused */
async function look(
  github: Github,
  token: string,
  name: string,
  signal: AbortSignal,
): Promise<{ login: string; repository: GithubRepository }> {
  const [login, repository] = await refusing(async () => {
    const own = await github.login(token, signal);
    return [own, await github.repository(token, name, signal)] as const;
  });
  if (repository.has_issues === false) throw new ConnectionRefused('GitHub says: issues are turned off there.');
  if (repository.archived) throw new ConnectionRefused('GitHub says: the repository is archived.');
  return { login: login ?? repository.owner.login, repository };
}

/**
 * Whether the token belongs to somebody whom the repository's owner let in. That is so if the repository is private, or
 * if GitHub names a right that strangers do not have in a public one. A token without such a right is accepted too,
 * because GitHub names no rights for some tokens of apps.
 */
const isInsider = ({
  private: hidden,
  permissions: { admin, maintain, push, triage } = {},
}: GithubRepository): boolean => [hidden, admin, maintain, push, triage].includes(true);

export const githubConnector: Connector = {
  async connect(candidate, _standing, { github, secrets }, signal) {
    const { token, webhook_secret: secret } = candidate.credentials as Candidates;
    const { login, repository } = await look(github, token, String(candidate.settings['repository']), signal);
    return {
      account: login,
      settings: { repository: repository.full_name },
      sealed: sealCredentials(candidate, { token } satisfies GithubCredentials, secrets),
      workspace: String(repository.id),
      events_of: githubExternal(repository.id),
      ...(isInsider(repository) ? { insider: true } : {}),
      ...(secret === undefined ? {} : { sealed_signing: secrets.seal(secret, signingPlace(candidate)) }),
    };
  },
  async test(integration, { github, secrets }, signal) {
    const { settings } = integration;
    const { token } = credentialsOf(integration, secrets) as GithubCredentials;
    const { login, repository } = await look(github, token, String(settings['repository']), signal);
    return `GitHub takes the token of ${login} for ${repository.full_name}.`;
  },
};
