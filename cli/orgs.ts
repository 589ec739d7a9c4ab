/** The commands of `org`: create, list and choose organizations, and take them live. All of them need a login. */
import { setTimeout as wait } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { z } from 'zod';
import { identifier } from './arguments.ts';
import { CliError } from './errors.ts';
import { shortTime, table } from './output.ts';
import { listOrganizations, type Act } from './session.ts';
import { supportConfigReply } from '../api/integrations/contract/supportconfig.ts';
import { goLiveReply, type goLiveBody } from '../api/chat/contract/golive.ts';
import { organization } from '../api/access/contract/orgs.ts';

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
    .description('make an organization live, so that its live keys work on live data, and say what is live then')
    .argument('<org>', 'its identifier; org list shows it', identifier)
    .option('--copy', 'take the documents and pages of test mode over into live mode, and wait until that is done')
    .addOption(new Option('--back', 'move it back into the sandbox').conflicts('copy'))
    .action(
      act(async ({ member, output }, given: string, { back, copy }: { back?: boolean; copy?: boolean }) => {
        const client = await member();
        if (back) {
          const body = { environment: 'sandbox' };
          const { config } = await client.request('PUT', `/support/config/orgs/${given}`, supportConfigReply, { body });
          const { org_id, environment } = config;
          output.result({ org_id, environment }, () => [`${org_id} is in the sandbox.`]);
          return;
        }
        const body: z.infer<typeof goLiveBody> = copy ? { copy_from_test: true } : {};
        const path = `/orgs/${given}/go-live`;
        let state = await client.request('POST', path, goLiveReply, { body });
        while (body.copy_from_test === true && state.copy?.status === 'running') {
          await wait(lookEveryMs);
          state = await client.request('GET', path, goLiveReply);
        }
        output.result(state, () => goLiveLines(state, copy === true));
      }),
    );
}

const lookEveryMs = 500;
const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** The output of `org go-live`: what live mode and test mode contain. */
function goLiveLines({ org_id, live, test, copy }: z.infer<typeof goLiveReply>, copied: boolean): string[] {
  const { documents, pages, tools, settings } = live;
  const parts = [counted(documents, 'document'), counted(pages, 'page'), counted(tools, 'approved tool')];
  const empty = documents + pages === 0 && test.documents + test.pages > 0;
  return [
    `${org_id} is live.`,
    `In live mode: ${parts.join(', ')}, ${counted(settings, 'changed setting')}.`,
    `In test mode: ${counted(test.documents, 'document')}, ${counted(test.pages, 'page')}.`,
    ...(empty ? ['Live mode has no knowledge yet. To take that of test mode over: org go-live --copy'] : []),
    ...(copied && copy ? copy.left_out.map(({ id, reason }) => `Left out: ${id}: ${reason}`) : []),
  ];
}
