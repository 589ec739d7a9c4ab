/**
 * The commands of `keys`: the API keys of an organization. A token is shown once, when the key is created, and is not
 * stored on this machine.
 */
import type { Command } from 'commander';
import type { z } from 'zod';
import { identifier, list } from './arguments.ts';
import { allPages } from './client.ts';
import { shortTime, table } from './output.ts';
import type { Act } from './session.ts';
import { type key, keyList, keyReply, newKeyReply } from '../api/access/contract/keys.ts';

type Key = z.infer<typeof key>;

const path = (orgId: string): string => `/support/developer-keys/orgs/${orgId}/keys`;

export function addKeyCommands(program: Command, act: Act): void {
  const keys = program.command('keys').description('create, list and revoke API keys of an organization');
  keys
    .command('create')
    .description('create a key, a test key unless --mode live is given; its token is shown only once')
    .argument('<name>', 'what the key is called in lists')
    .option(
      '--scopes <a,b>',
      'what the key may do: support:read, support:write, sessions:mint, mcp:read, mcp:write; default mcp:read,mcp:write',
      list,
    )
    .option('--expires <time>', 'when it expires, like 2030-01-31T00:00:00Z; default never')
    .action(
      act(async ({ member, orgId, mode, output }, name: string, given: { scopes?: string[]; expires?: string }) => {
        const created = await (
          await member()
        ).request('POST', path(await orgId('member')), newKeyReply, {
          body: { name, mode, scopes: given.scopes, expires_at: given.expires },
        });
        output.result(created, () => [
          created.token,
          `This token is shown only now. Key ${created.key.key_id}, ${created.key.environment} mode, may: ${created.key.scopes.join(', ')}`,
        ]);
      }),
    );
  keys
    .command('list')
    .description('list all keys, revoked ones too')
    .action(
      act(async ({ member, orgId, output }) => {
        const client = await member();
        const org = await orgId('member');
        const found = await allPages(async (query) => {
          const { keys, cursor } = await client.request('GET', path(org), keyList, { query });
          return { entries: keys, cursor };
        });
        output.result({ keys: found }, () =>
          found.length === 0 ? ['There are no keys yet: create one with keys create.'] : keyTable(found),
        );
      }),
    );
  keys
    .command('revoke')
    .description('revoke a key at once and for ever')
    .argument('<key>', 'its identifier; keys list shows it', identifier)
    .action(
      act(async ({ member, orgId, output }, keyId: string) => {
        const revoked = await (await member()).request('DELETE', `${path(await orgId('member'))}/${keyId}`, keyReply);
        output.result(revoked, () => [`Revoked ${revoked.key.key_id}  ${revoked.key.name}`]);
      }),
    );
}

function keyTable(keys: readonly Key[]): string[] {
  return table(
    ['KEY', 'TOKEN', 'STATUS', 'MODE', 'LAST USED', 'SCOPES', 'NAME'],
    keys.map((k) => [
      k.key_id,
      `${k.token_prefix}…`,
      k.status,
      k.environment,
      shortTime(k.last_used_at),
      k.scopes.join(','),
      k.name,
    ]),
  );
}
