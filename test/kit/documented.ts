/** Finds the queries, commands and requests that the documentation shows, as a reader would copy them. */

/** A code span or a line that starts with one of these names is a command. */
const programs = new Set(
  'bash curl docker git go kubectl mongodump mongorestore mongosh mvn node npm npx openssl pip python3 sh support-platform temporal'.split(
    ' ',
  ),
);
const isCommand = (text: string): boolean => programs.has(/^\S+/.exec(text)?.[0] ?? '');

/** `output` is what the document shows below the command. */
export type Documented = { text: string; output: string };

/** The texts of code spans. A span between double backquotes may contain a single backquote. */
const spansIn = (text: string): string[] =>
  [...text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)].map(([, , span]) => span!.trim());

type Block = { language: string; lines: string[] };
function split(text: string): { prose: string; blocks: Block[] } {
  const blocks: Block[] = [];
  const prose = text.replaceAll(/^```(\w*)\n(.*?)^```/gms, (_, language: string, content: string) => {
    blocks.push({ language, lines: content.trimEnd().split('\n') });
    return '';
  });
  return { prose, blocks };
}

/** A block marked `sh` is one script. In other blocks a command follows `$` or starts a line. */
function commandsOf({ language, lines }: Block): Documented[] {
  if (language === 'sh') return [{ text: lines.join('\n'), output: '' }];
  const found: Documented[] = [];
  // A line that ends with a backslash continues in the next one.
  for (const line of lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')) {
    const prompted = /^\$ (.+)$/.exec(line)?.[1];
    if (prompted !== undefined || (language === '' && isCommand(line)))
      found.push({ text: prompted ?? line, output: '' });
    else if (found.length > 0) found.at(-1)!.output += `${line}\n`;
  }
  return found;
}

export function commandsIn(text: string): Documented[] {
  const { prose, blocks } = split(text);
  const spans = spansIn(prose).filter((span) => isCommand(span) && span.includes(' '));
  return [...blocks.flatMap(commandsOf), ...spans.map((span) => ({ text: span, output: '' }))];
}

/** Filters for workflows that the Temporal UI accepts: a name, an operator, a value. */
export function queriesIn(text: string): string[] {
  const { prose, blocks } = split(text);
  const spans = spansIn(prose).filter((span) =>
    /^`?[A-Z][a-z]\w*`? (?:=|!=|[<>]=?|IN|IS|BETWEEN|STARTS_WITH) .+$/.test(span),
  );
  // In a block `…` stands for a time.
  const lines = blocks.filter(({ language }) => language === 'sql').flatMap((block) => block.lines);
  return [...spans, ...lines.map((line) => line.replaceAll('"…"', '"2026-01-01T00:00:00Z"'))];
}

/** Commands without the name of the command-line tool, as docs/cli.md writes them: `inbox list --assigned-to me`. */
export const abbreviatedIn = (text: string, nouns: ReadonlySet<string>): string[] =>
  spansIn(split(text).prose).filter((span) => nouns.has(span.split(' ')[0]!) && span.includes(' '));

/** The words of a command as a shell splits them, without redirections. */
export const wordsOf = (command: string): string[] =>
  [...command.replace(/ < \S+$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );

export type DocumentedRequest = { method: string; path: string };

/** Requests in code spans, such as `PUT …/server`, without a query string. */
export const requestsIn = (text: string): DocumentedRequest[] =>
  spansIn(split(text).prose).flatMap((span) => {
    const [, methods, path] = /^((?:GET|POST|PUT|PATCH|DELETE)(?:\|[A-Z]+)*) ([^\s?]+)/.exec(span) ?? [];
    return (methods ?? '').split('|').flatMap((method) => (path === undefined ? [] : [{ method, path }]));
  });
