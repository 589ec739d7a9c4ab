/**
 * The commands `register`, `login`, `logout` and `password-link`: accounts at a server. The password is typed without
 * echo or read from stdin; it is never an argument.
 */
import type { Command } from 'commander';
import type { z } from 'zod';
import { ask, readAll } from './prompt.ts';
import type { Act, Session } from './session.ts';
import { signedOutReply } from '../api/access/contract/accounts.ts';
import { loginReply } from '../api/access/contract/auth.ts';
import { usageError } from './errors.ts';

type Given = { email?: string; passwordStdin?: boolean; name?: string; company?: string };

export function addAccountCommands(program: Command, act: Act): void {
  program
    .command('register')
    .description('create an account and log in with it')
    .option('--email <address>', 'your e-mail address; the command asks for it when it is missing')
    .option('--name <name>', 'your name; the command asks for it when it is missing')
    .option('--company <name>', 'also create an organization of this name')
    .option('--password-stdin', 'read the password (12 characters or more) from stdin')
    .action(
      act(async (session, given: Given) => {
        const email = await field(session, given.email, 'E-mail', '--email');
        const name = await field(session, given.name, 'Name', '--name');
        const password = await readPassword(session, given);
        if (!given.passwordStdin && (await readPassword(session, given, 'Password again')) !== password) {
          throw usageError('The two passwords differ.');
        }
        const company = given.company === undefined ? {} : { company: given.company };
        await signIn(session, '/auth/register', { email, password, name, ...company });
      }),
    );
  program
    .command('login')
    .description('log in with e-mail and password')
    .option('--email <address>', 'your e-mail address; the command asks for it when it is missing')
    .option('--password-stdin', 'read the password from stdin')
    .action(
      act(async (session, given: Given) => {
        const email = await field(session, given.email, 'E-mail', '--email');
        await signIn(session, '/auth/login', { email, password: await readPassword(session, given) });
      }),
    );
  program
    .command('logout')
    .description('remove the stored login of this server')
    .option('--everywhere', 'also end every other login of the account')
    .action(
      act(async ({ credentials, url, output, member }, { everywhere }: { everywhere?: boolean }) => {
        if (everywhere)
          await (await member()).request('POST', '/auth/logout-everywhere', signedOutReply, { once: true });
        const known = (await credentials.read(url)) !== undefined;
        await credentials.write(url, undefined);
        output.result({ url, logged_out: known, everywhere: everywhere === true }, () => [
          everywhere
            ? `Every login of the account at ${url} has ended.`
            : known
              ? `Logged out of ${url}.`
              : `There was no login at ${url}.`,
        ]);
      }),
    );
  program
    .command('password-link')
    .description('for operators, where the server runs: a link by which somebody sets a new password')
    .argument('<email>', 'the address of the account')
    .action(
      act(async ({ env, output }, email: string) => {
        // This module is loaded lazily, because it needs the database driver, which most commands do not need.
        const { passwordLink } = await import('./operator/secrets.ts');
        const made = await passwordLink(env, email, new Date());
        output.result(made, () => [
          `Whoever opens this within half an hour sets a new password for ${made.email}:`,
          made.link,
        ]);
      }),
    );
}

async function field(
  { stdin, output }: Session,
  given: string | undefined,
  label: string,
  option: string,
): Promise<string> {
  return given ?? ask({ stdin, stderr: output.stderr }, label, { instead: `give ${option}` });
}

async function readPassword({ stdin, output }: Session, given: Given, label = 'Password'): Promise<string> {
  if (given.passwordStdin) return readAll(stdin);
  return ask({ stdin, stderr: output.stderr }, label, {
    hidden: true,
    instead: 'pipe the password in and give --password-stdin',
  });
}

/**
 * Signs in and stores the login. The request is never retried, because a retried registration would find the account it
 * has just created.
 */
async function signIn(session: Session, path: string, body: Record<string, string>): Promise<void> {
  const reply = await session.anonymous.request('POST', path, loginReply, { body, once: true });
  const former = await session.credentials.read(session.url);
  const { token, expires_at, user, organizations } = reply;
  const org = organizations.find(({ org_id }) => org_id === former?.org)?.org_id;
  await session.credentials.write(session.url, {
    token,
    expires_at,
    email: user.email,
    ...(org === undefined ? {} : { org }),
  });
  // The token is not printed, because scripts may log all output.
  session.output.result({ url: session.url, expires_at, user, organizations }, () => [
    `Logged in as ${user.email} at ${session.url} until ${expires_at.slice(0, 10)}.`,
    ...organizationLines(organizations),
  ]);
}

function organizationLines(organizations: z.infer<typeof loginReply>['organizations']): string[] {
  if (organizations.length === 0) return ['You have no organization yet: create one with org create.'];
  return organizations.map(({ org_id, name, role }) => `  ${org_id}  ${role}  ${name}`);
}
