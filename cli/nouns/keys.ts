/**
 * The commands of `keys`: the API keys of an organization. A token is shown once, when the key is created, and is not
 * stored on this machine.
 */
import { command, listing, noun } from '../described.ts';
import * as contract from '../../api/access/contract/keys.ts';

const others = contract.createKeyBody.omit({ mode: true });
const expiry = others.shape.expires_at;

export const keys = noun({
  name: 'keys',
  description: 'create, list and revoke API keys of an organization',
  login: true,
  example: 'key_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    command({
      name: 'create',
      description: 'create a key, a test key unless --mode live is given; its token is shown only once',
      examples: ['create website --scopes support:read,support:write', 'create website --mode live'],
      does: contract.createKey,
      args: { name: 'what the key is called in lists' },
      // The key's mode comes from the global option `--mode`, so it is no option of this command.
      fields: {
        of: others.extend({ expires_at: expiry.meta({ description: 'like 2030-01-31T00:00:00Z; never unless told' }) }),
        body: (given, { mode }) => ({ ...given, mode }),
      },
      names: { expires_at: 'expires' },
      lines: ({ key, token }) => [
        token,
        `This token is shown only now. Key ${key.key_id}, ${key.environment} mode, may: ${key.scopes.join(', ')}`,
      ],
    }),
    listing({
      name: 'list',
      description: 'list all keys, revoked ones too',
      does: contract.listKeys,
      entries: 'keys',
      columns: {
        KEY: (key) => key.key_id,
        TOKEN: (key) => `${key.token_prefix}…`,
        STATUS: (key) => key.status,
        MODE: (key) => key.environment,
        'LAST USED': (key) => key.last_used_at,
        SCOPES: (key) => key.scopes,
        NAME: (key) => key.name,
      },
      none: 'There are no keys yet: create one with keys create.',
    }),
    command({
      name: 'revoke',
      description: 'revoke a key at once and for ever',
      does: contract.revokeKey,
      lines: ({ key }) => [`Revoked ${key.key_id}  ${key.name}`],
    }),
  ],
});
