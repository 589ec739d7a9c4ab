/** `org`: create, list, choose and take organizations live. All of it needs a login. */
import type { Command } from 'commander';
import { identifier } from './arguments.ts';
import { CliError } from './errors.ts';
import { shortTime, table } from './output.ts';
import { listOrganizations, type Act } from './session.ts';
import { supportConfigReply } from '../api/contract/supportconfig.ts';
import { organization } from '../api/contract/orgs.ts';

export function addOrgCommands(program: Command, act: Act): void {
  const org = program.command('org').description('create, list and choose organizations');
  org
    .command('create')
    .description('create an organization; you become its owner')
    .argument('<name>', 'its name')
    .action(
      act(async ({ member, output }, name: string) => {
        const created = await (await member()).request('POST', '/orgs', organization, { body: { name } });
        output.result(created, () => [`Created ${created.org_id}  ${created.name}`]);
      }),
    );
  org
    .command('list')
    .description('list your organizations; * marks the chosen one')
    .action(
      act(async ({ member, login, output }) => {
        const organizations = await listOrganizations(await member());
        const chosen = (await login())?.org;
        output.result({ organizations, chosen: chosen ?? null }, () =>
          organizations.length === 0
            ? ['You have no organization yet: create one with org create.']
            : table(
                ['  ORGANIZATION', 'ENVIRONMENT', 'ROLE', 'CREATED', 'NAME'],
                organizations.map((o) => [
                  `${o.org_id === chosen ? '*' : ' '} ${o.org_id}`,
                  o.environment,
                  o.role,
                  shortTime(o.created_at),
                  o.name,
                ]),
              ),
        );
      }),
    );
  org
    .command('use')
    .description('choose the organization that the other commands work with')
    .argument('<org>', 'its identifier; org list shows it', identifier)
    .action(
      act(async ({ member, login, credentials, url, output }, given: string) => {
        const chosen = await (await member()).request('GET', `/orgs/${given}`, organization);
        const current = await login();
        if (current === undefined)
          throw new CliError('The login has expired meanwhile; log in again.', { code: 'NOT_LOGGED_IN' });
        await credentials.write(url, { ...current, org: chosen.org_id });
        output.result(chosen, () => [`Using ${chosen.org_id}  ${chosen.name}`]);
      }),
    );
  org
    .command('go-live')
    .description('make an organization live, so that its live keys work on live data')
    .argument('<org>', 'its identifier; org list shows it', identifier)
    .option('--back', 'move it back into the sandbox')
    .action(
      act(async ({ member, output }, given: string, { back }: { back?: boolean }) => {
        const body = { environment: back ? 'sandbox' : 'production' };
        const { config } = await (
          await member()
        ).request('PUT', `/support/config/orgs/${given}`, supportConfigReply, { body });
        output.result({ org_id: config.org_id, environment: config.environment }, () => [
          config.environment === 'production' ? `${config.org_id} is live.` : `${config.org_id} is in the sandbox.`,
        ]);
      }),
    );
}
