/**
 * Commands that are described by tables. A noun (the first word of a command, such as `tasks`) has its table in
 * cli/nouns/. Each command names an operation of the API's contract, and the operation's fields become options. A
 * command that does more than send one request has `runs`.
 */
import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { identifier } from './arguments.ts';
import { allPages } from './client.ts';
import {
  argumentOf,
  attributeOf,
  fieldsOf,
  only,
  optionsOf,
  valuesOf,
  word,
  type Field,
  type Given,
} from './fields.ts';
import { record, shortTime, table } from './output.ts';
import type { Act, Session } from './session.ts';
import type { Method, Operation } from '../api/base/contract/operation.ts';

/** Sends the command's request, with additional query parameters if they are given. */
type Ask<R> = (query?: Given) => Promise<R>;
/** The output: `value` with `--json`, otherwise `lines`. `isEmpty`: whether it is a list without entries. */
type Printed = { value: unknown; lines: readonly string[]; isEmpty?: boolean };

export type Described = {
  /** A verb, such as `list`, or several words, such as `connect linear`, when several routes share the verb. */
  name: string;
  description: string;
  /** Example commands without the noun; `noun` adds one to a command that has none. */
  examples?: readonly string[];
  /** Every path parameter becomes an argument, except `{orgId}`, which is the organization of the session. */
  does: Operation;
  /** The command needs a login. Other commands also accept an API key and the global `--mode`. */
  login?: true;
  /**
   * Descriptions of arguments. Path parameters come first and need no description. Other keys are fields of `query` or
   * `body`, or additional inputs of `runs`.
   */
  args?: Readonly<Record<string, string>>;
  /**
   * For a body whose fields would be hard to type: the schema of the options, and the function that makes the body from
   * their values.
   */
  fields?: { of: z.ZodObject; body: (given: Given, session: Session) => unknown };
  /** Other names of path parameters, and of fields whose name is already a global option. */
  names?: Readonly<Record<string, string>>;
  /** Fields of the schemas that do not become options. */
  except?: readonly string[];
  /** Set for a route that treats null as absent. No value can then be removed, so the options refuse `none`. */
  keepsValues?: true;
  /** Runs in place of sending the request. */
  runs?(session: Session, given: Given): Promise<void>;
  shown(ask: Ask<unknown>, given: Given, width: number): Promise<Printed>;
};

export type Noun = {
  /** Empty for commands without a noun, such as `gaps`. */
  name: string;
  description: string;
  commands: readonly (Described & Required<Pick<Described, 'examples'>>)[];
};

/**
 * A noun with its commands. `login` and `names` apply to every command; a command may have further `names`. `example`:
 * the path parameter in the example of a command that names no examples.
 */
export function noun({
  name,
  description,
  example = '',
  commands,
  ...shared
}: Pick<Noun, 'name' | 'description'> &
  Pick<Described, 'login' | 'names'> & { example?: string; commands: readonly Described[] }): Noun {
  const completed = commands.map((each) => ({
    ...shared,
    examples: [parametersOf(each.does).length > 0 ? `${each.name} ${example}` : each.name],
    ...each,
    names: { ...shared.names, ...each.names },
  }));
  return { name, description, commands: completed };
}

type Definition<O extends Operation> = Omit<Described, 'does' | 'shown'> & { does: O };
type ReplyOf<O extends Operation> = z.infer<O['reply']>;

/** A command that prints the reply as a record, or as the lines that `lines` makes of it. */
export function command<O extends Operation>(
  definition: Definition<O> & { lines?: (reply: ReplyOf<O>, given: Given, width: number) => readonly string[] },
): Described {
  const { lines = (reply, _, width) => record(reply, width), ...described } = definition;
  return {
    ...described,
    async shown(ask, given, width) {
      const reply = (await ask()) as ReplyOf<O>;
      return { value: reply, lines: lines(reply, given, width) };
    },
  };
}

/** A command that does more than send one request. */
export function steps(
  definition: Omit<Described, 'shown' | 'runs'> & { runs(session: Session, given: Given): Promise<void> },
): Described {
  return command(definition);
}

/** A command that lists all pages, or as many entries as `--limit` says. */
export function listing<O extends Operation, K extends keyof ReplyOf<O> & string>(
  definition: Definition<O> & {
    entries: K;
    /** The cell of an entry for each column heading. */
    columns: Readonly<Record<string, (entry: EntryOf<ReplyOf<O>[K]>) => unknown>>;
    /** A line about an entry, which is printed below the table. */
    below?: (entry: EntryOf<ReplyOf<O>[K]>) => string | undefined;
    /** The sentence that is printed when the list is empty. */
    none: string;
  },
): Described {
  const { entries, columns, below, none, ...described } = definition;
  const isPaged = 'cursor' in (definition.does.query?.shape ?? {});
  return {
    ...described,
    async shown(ask, { limit }) {
      const { found, rest } = await entriesOf(ask as Ask<Given>, entries, isPaged, limit as number | undefined);
      const all = found as EntryOf<ReplyOf<O>[K]>[];
      const rows = all.map((entry) => Object.values(columns).map((of) => cell(of(entry))));
      const under = all.flatMap((entry) => below?.(entry) ?? []);
      const isEmpty = all.length === 0;
      return {
        value: { count: all.length, ...rest, [entries]: all },
        lines: isEmpty ? [none] : [...table(Object.keys(columns), rows), ...under],
        isEmpty,
      };
    },
  };
}

type EntryOf<L> = L extends readonly (infer E)[] ? E : never;

/** The entries of all pages, and the other fields of the first page. */
async function entriesOf(ask: Ask<Given>, entries: string, isPaged: boolean, most: number | undefined) {
  let rest: Given | undefined;
  const found = await allPages<unknown>(async (query) => {
    const { cursor = null, next_cursor: next = cursor, ...reply } = await ask(isPaged ? query : {});
    rest ??= reply;
    return { entries: reply[entries] as readonly unknown[], cursor: next as string | null };
  }, most);
  return { found, rest };
}

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(String).join(',') || '-';
  if (typeof value !== 'string') return JSON.stringify(value);
  return time.test(value) ? shortTime(value) : value;
}

/**
 * Adds the commands of these nouns. A noun that already has commands written by hand gets these commands in addition.
 */
export function addNouns(program: Command, act: Act, nouns: readonly Noun[]): void {
  for (const { name, description, commands } of nouns) {
    const known = name === '' ? program : program.commands.find((each) => each.name() === name);
    const noun = known ?? program.command(name);
    if (noun !== program) noun.description(description);
    for (const each of commands) addCommand(noun, each, act);
  }
}

/** Adds examples such as `$ support-platform docs list` to the end of a command's help. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ support-platform ${example}`);
  return command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.join('\n')}`);
}

function addCommand(noun: Command, described: Noun['commands'][number], act: Act): void {
  const { does, args = {}, examples, runs } = described;
  const parameters = parametersOf(does);
  const positional = [...parameters, ...Object.keys(args).filter((name) => !parameters.includes(name))];
  const fields = inputsOf(described);
  const made = placeOf(noun, described.name).description(described.description);
  for (const name of parameters) made.addArgument(parameterArgument(noun.name(), described, name));
  for (const field of fields.filter(({ name }) => name in args))
    made.addArgument(argumentOf({ ...field, help: args[field.name]! }));
  for (const field of fields.filter(({ name }) => !(name in args)))
    for (const option of optionsOf(field, !does.head.startsWith('POST '), described.keepsValues))
      made.addOption(option);
  withExamples(
    made,
    examples.map((example) => (noun.parent ? `${noun.name()} ${example}` : example)),
  );
  const run = async (session: Session, ...values: unknown[]): Promise<void> => {
    const options = values[positional.length] as Given;
    const given = {
      ...Object.fromEntries(parameters.map((name, at) => [name, values[at]])),
      ...(await valuesOf(session.stdin, fields, (field) =>
        field.name in args ? values[positional.indexOf(field.name)] : options[attributeOf(field)],
      )),
    };
    await (runs ? runs(session, given) : send(session, described, given));
  };
  made.action(act(run));
}

/** Creates the command with this name. In a name of several words, the first ones are parent commands. */
function placeOf(noun: Command, name: string): Command {
  const words = name.split(' ');
  const last = words.pop()!;
  let at = noun;
  for (const each of words)
    at = at.commands.find((known) => known.name() === each) ?? at.command(each).description('see its commands');
  return at.command(last);
}

/** The inputs of a command: arguments in order, then options. */
function inputsOf({ does, fields, args = {}, names, except = [] }: Described): Field[] {
  const schemas = [does.query, fields?.of ?? does.body].filter((schema) => schema !== undefined);
  const found = schemas.flatMap((schema) => fieldsOf(schema, names));
  const limit = found.find(({ name }) => name === 'limit');
  if (limit) limit.help = 'list at most this many; all unless told';
  return [
    ...Object.keys(args)
      .filter((name) => !parametersOf(does).includes(name))
      .map((name) => found.find((field) => field.name === name) ?? word(name)),
    ...found.filter(({ name }) => !(name in args) && name !== 'cursor' && !except.includes(name)),
  ];
}

/** The parameters of a path in order, without the organization. */
const parametersOf = ({ head }: Operation): string[] =>
  [...head.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).filter((name) => name !== 'orgId');

/** The argument of a path parameter: `taskId` becomes `<task>`. */
function parameterArgument(noun: string, { does, args, names }: Described, name: string): Argument {
  const word = `<${names?.[name] ?? name.replace(/Id$/, '')}>`;
  const schema = does.params?.shape[name];
  if (schema instanceof z.ZodEnum) return new Argument(word).choices(schema.options.map(String));
  return new Argument(word, args?.[name] ?? `its identifier; ${noun} list shows it`).argParser(identifier);
}

async function send(session: Session, described: Described, given: Given): Promise<void> {
  const {
    does: { head, query, body, reply },
    login,
    fields,
  } = described;
  const client = await (login ? session.member() : session.client());
  const [method, template] = head.split(' ') as [Method, string];
  const org = template.includes('{orgId}') ? await session.orgId(login ? 'member' : undefined) : '';
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'orgId' ? org : String(given[name])));
  const filter = { ...(login ? {} : { mode: session.mode }), ...(query && only(given, query)) };
  const sent = fields ? await fields.body(given, session) : body && only(given, body);
  const ask: Ask<unknown> = (more = {}) =>
    client.request(method, path, reply, {
      query: { ...filter, ...more },
      ...(sent === undefined ? {} : { body: sent }),
    });
  const printed = await described.shown(ask, given, session.output.width);
  const seen = printed.isEmpty && !login && method === 'GET' ? await session.modeSeen('list') : undefined;
  session.output.result(printed.value, () => printed.lines);
  if (seen !== undefined) session.output.note(seen);
}
