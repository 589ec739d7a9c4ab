/**
 * The command `reseal`, which encrypts all stored secrets with the new secret key. An operator runs it after changing
 * the secret key.
 */
import type { Command } from 'commander';
import { CliError } from './errors.ts';
import type { Act } from './session.ts';

export function addSecretCommands(program: Command, act: Act): void {
  program
    .command('reseal')
    .description('for operators, where the server runs: seal every stored secret with the first key of SECRET_KEY')
    .action(
      act(async ({ env, output }) => {
        // This code is loaded lazily, because it needs the database, which most commands do not.
        const { reseal } = await import('./operator/secrets.ts');
        const { resealed, left, unreadable, audits } = await reseal(env);
        output.result({ resealed, left, unreadable, audits }, () => [
          `Sealed anew: ${resealed}. Signed anew: ${audits.resigned}.`,
          ...audits.broken.map((orgId) => `The tool audit of ${orgId} is not intact; see GET …/audit/verify.`),
          ...unreadable.map(({ field, record }) => `No configured key opens ${field} of ${record}.`),
        ]);
        if (left > 0)
          throw new CliError(`${left} values were changed meanwhile; run it again.`, { code: 'CHANGED_MEANWHILE' });
        if (unreadable.length > 0)
          throw new CliError('Append the key that sealed these values to SECRET_KEY, and run it again.', {
            code: 'UNREADABLE',
          });
      }),
    );
}
