/** The commands `ops …`, for operators where the server runs. */
import type { Command } from 'commander';
import { detailLines, shortTime, table, wrap } from './output.ts';
import type { Act, Session } from './session.ts';
import type { Deployment } from './operator/deployment.ts';
import type { NotWorking } from './operator/organizations.ts';
import type { Attempt, Busy, Explained, Stuck } from './operator/workflows.ts';

/** These modules are loaded lazily, because they need the database and Temporal, which most commands do not. */
const workflows = () => import('./operator/workflows.ts');
const organizations = () => import('./operator/organizations.ts');
const deployments = () => import('./operator/deployment.ts');

/** `run` gets the argument, or '' when there is none, and returns what `--json` prints. */
type OpsCommand<R> = {
  name: string;
  description: string;
  argument?: readonly [name: string, description: string];
  run: (deployment: Deployment, given: string, now: Date) => Promise<R>;
  lines: (found: R, width: number) => readonly string[];
};

export function addOpsCommands(program: Command, act: Act): void {
  const ops = program
    .command('ops')
    .description('for operators, where the server runs: see and mend the work of all organizations');
  const add = <R extends object>({ name, description, argument, run, lines }: OpsCommand<R>): void => {
    const command = ops.command(name).description(description);
    if (argument) command.argument(...argument);
    command.action(
      act(async ({ env, output }: Session, ...values: unknown[]) => {
        const { onDeployment } = await deployments();
        const given = argument ? String(values[0]) : '';
        const found = await onDeployment(env, { command: name, ...(argument ? { target: given } : {}) }, (deployment) =>
          run(deployment, given, new Date()),
        );
        output.result(found, () => lines(found, output.width));
      }),
    );
  };
  add({
    name: 'stuck',
    description: 'what waits for a mend: each situation with what it means and what to do',
    run: async (deployment, _, now) => (await workflows()).stuck(deployment, now),
    lines: stuckLines,
  });
  add({
    name: 'org',
    description: 'an organization: which connections do not work, what is open, and what failed within a day',
    argument: ['<org>', 'its id, the e-mail address of a member, or a part of its name'],
    run: async (deployment, text, now) => {
      const [{ workOf }, { find, faultsOf }] = await Promise.all([workflows(), organizations()]);
      const found = await find(text);
      const organization = found[0]!;
      if (found.length > 1) return { organizations: found };
      const { org_id: orgId } = organization;
      return { organization, ...(await faultsOf(orgId)), ...(await workOf(deployment, orgId, now)) };
    },
    lines: (found) =>
      found.organizations
        ? table(
            ['organization', 'name', 'environment', 'since'],
            found.organizations.map(({ org_id, name, environment, since }) => [
              org_id,
              name,
              environment,
              shortTime(since),
            ]),
          )
        : [
            `${found.organization.name} (${found.organization.org_id})`,
            `Mail server: ${found.own_mail_server ? 'its own' : 'that of this deployment (SMTP_URL), where one is set'}.`,
            ...found.not_working.map(faultLine),
            `Failed within a day: ${found.failed.length}`,
            ...rows(found.failed),
            `Open: ${found.open.length}`,
            ...rows(found.open),
          ],
  });
  add({
    name: 'show',
    description: 'one workflow: its details, and the attempts at its activities',
    argument: ['<id>', 'id of the workflow, such as document:doc_…'],
    run: async (deployment, id) => (await workflows()).shown(deployment, id),
    lines: (found, width) => [
      found.summary,
      found.does,
      `${found.status}, begun ${shortTime(found.since)}, ${found.events} events`,
      ...found.not_working.map(faultLine),
      ...attemptLines(found.attempts),
      ...(found.details === null
        ? ['No worker runs its code, so its details are not known. Start a worker of its fleet.']
        : detailLines(found.details, width)),
    ],
  });
  add({
    name: 'restart',
    description: 'after a restore: gives every unfinished record an open workflow again',
    run: async (deployment, _, now) => {
      const { restart } = await import('./operator/restart.ts');
      return { restarted: await restart(deployment, now) };
    },
    lines: ({ restarted }) => {
      const counts = Object.entries(restarted).map(([collection, count]) => `${collection}: ${count}`);
      return counts.length > 0 ? counts : ['Nothing is unfinished.'];
    },
  });
  const acts = [
    ['retry', 'try at once what waits for its next attempt'],
    ['cancel', 'stop a workflow in the way of its kind; says what to do instead where it must not be stopped'],
  ] as const;
  for (const [name, description] of acts)
    add({
      name,
      description,
      argument: ['<id>', 'id of the workflow'],
      run: async (deployment, id) => ({ id, said: await (await workflows())[name](deployment, id) }),
      lines: ({ said }) => [said],
    });
  add({
    name: 'login',
    description: 'a link that lets the Temporal UI show encrypted contents in plain for 12 hours',
    run: async (deployment, _, now) => ({ link: (await deployments()).loginLink(deployment, now) }),
    lines: ({ link }) => [link, 'Open it in the browser that has the Temporal UI. It is valid for 5 minutes.'],
  });
  add({
    name: 'log',
    description: 'who ran which of these commands, and what came of it, newest first',
    run: async () => ({ operations: await (await deployments()).listOperations(50) }),
    lines: ({ operations }) =>
      table(
        ['at', 'by', 'command', 'workflow', 'outcome'],
        operations.map(({ at, by, command, target = '-', outcome = 'unknown' }) => [
          shortTime(at.toISOString()),
          by,
          command,
          target,
          outcome,
        ]),
      ),
  });
}

const faultLine = ({ what, status, since, reason }: NotWorking): string =>
  `${what} is ${status} since ${shortTime(since)}: ${reason}`;

/** One line for each workflow; the line below says what failed last, or what the workflow waits for. */
function rows(listed: readonly Explained[]): string[] {
  if (listed.length === 0) return [];
  const [head, ...lines] = table(
    ['workflow', 'status', 'begun', 'what'],
    listed.map(({ id, status, since, summary }) => [id, status, shortTime(since), summary]),
  );
  const failures = listed.map(({ says }) => (says === null ? [] : [`    ${says}`]));
  return [head!, ...lines.flatMap((line, at) => [line, ...failures[at]!])].map((line) => `  ${line}`);
}

/** The rows of the listed workflows, and how many more there are. */
const rowsOf = (listed: readonly Explained[], count: number): string[] => [
  ...rows(listed),
  ...(count > listed.length ? [`  and ${count - listed.length} more`] : []),
];

const attemptLines = (attempts: readonly Attempt[]): string[] =>
  attempts.map(
    ({ activity, attempt, failed, next }) =>
      `attempt ${attempt} to ${activity}${failed === null ? '' : `; failed last: ${failed}`}${next === null ? '' : `; next at ${next}`}`,
  );

function busyLine({ org_id, name, open, kinds }: Busy): string {
  const most = Object.entries(kinds).toSorted(([, a], [, b]) => b - a);
  return `  ${name} (${org_id}): ${open} open, of these ${most.map(([kind, of]) => `${of} ${kind}`).join(', ')}`;
}

/** The failure that all these workflows share, in brackets; empty when they share none. */
function reasonOf(listed: readonly Explained[]): string {
  const reasons = new Set(listed.map(({ says }) => says ?? ''));
  const [reason = ''] = reasons;
  return reasons.size > 1 || /^(?:waits for |$)/u.test(reason) ? '' : ` (${reason.replace(/\.$/u, '')})`;
}

function stuckLines(stuck: Stuck, width: number): string[] {
  const { situations, failing, busiest, not_started, limited_to } = stuck;
  const flooding = busiest.filter(({ floods }) => floods);
  const lines = situations.flatMap(({ name, title, count, means, mend, query, first }) => [
    `${title}: ${name === 'flood' ? flooding.length : count}`,
    ...[means, mend].flatMap((text) => wrap(text, width - 2).map((line) => `  ${line}`)),
    `  Temporal UI: ${query}`,
    ...(name === 'flood' ? flooding.map(busyLine) : rowsOf(first, count)),
  ]);
  for (const { activity, failed, count, first } of failing)
    lines.push(
      `Fails and is tried again: ${count}`,
      ...wrap(`To ${activity} failed last: ${failed}`, width - 2).map((line) => `  ${line}`),
      '  Mend what failed, then `ops retry ID`; `ops show ID` has the details and the time of the next attempt.',
      ...rowsOf(first, count),
    );
  if (not_started > 0)
    lines.push(`Saved, but not started for a minute: ${not_started}. Is Temporal there, and does a worker run?`);
  if (lines.length === 0) lines.push('Nothing is stuck.');
  if (limited_to !== null)
    lines.push(...wrap(`Only ${limited_to} open workflows were searched for failing activities and floods.`, width));
  const busy = busiest.length > 0 ? ['Most open work:', ...busiest.map(busyLine)] : [];
  return [...inShort(stuck, flooding, width), ...lines, ...(flooding.length > 0 ? [] : busy)];
}

/** One sentence about the situations that slow down every organization, and one sentence about all other situations. */
function inShort({ situations, failing }: Stuck, flooding: readonly Busy[], width: number): string[] {
  const slow = situations.filter(({ name }) => name === 'model-away');
  const others = situations.filter(({ name }) => name !== 'model-away' && name !== 'flood');
  const titled = ({ title, first }: Stuck['situations'][number]): string => `${title}${reasonOf(first)}`;
  const sentence = (begins: string, titles: readonly string[]): string[] =>
    titles.length === 0 ? [] : wrap(`${begins}: ${titles.join('; ')}.`, width);
  return [
    ...sentence('Slows everybody', [
      ...flooding.map(({ name, open, kinds }) => `${name} floods (${open} open: ${Object.keys(kinds).join(', ')})`),
      ...slow.map(titled),
    ]),
    ...sentence('Waits for a mend', [
      ...others.map(titled),
      ...failing.map(({ activity, failed }) => `to ${activity} fails (${failed})`),
    ]),
  ];
}
