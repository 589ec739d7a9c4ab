/** The command `doctor`, for operators where the server runs. */
import type { Command } from 'commander';
import { CliError } from './errors.ts';
import { wrap } from './output.ts';
import type { Act } from './session.ts';

const marks = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' } as const;

export function addDoctorCommand(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('for operators, where the server runs: look at the whole deployment, and say what to mend and how')
    .action(
      act(async ({ env, output }) => {
        const { examine } = await import('./operator/doctor.ts');
        const findings = await examine(env, () => new Date());
        output.result({ findings }, () =>
          findings.flatMap(({ check, state, said, mend }) => [
            `${marks[state]}  ${check}: ${said}`,
            ...(mend === undefined ? [] : wrap(mend, output.width - 9).map((line) => `         ${line}`)),
          ]),
        );
        const broken = findings.filter(({ state }) => state === 'wrong').length;
        if (broken > 0)
          throw new CliError(`${broken} of ${findings.length} findings must be mended.`, { code: 'FINDINGS' });
      }),
    );
}
