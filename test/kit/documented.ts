/** The queries and commands in the documents, as a reader would copy them. */

/** What a span or a line of a block begins with when it is a command. */
const programs = new Set(
  'bash curl docker git go kubectl mongosh mvn node npm npx openssl pip python3 sh support-platform temporal'.split(
    ' ',
  ),
);
const isCommand = (text: string): boolean => programs.has(/^\S+/.exec(text)?.[0] ?? '');

/** `output`: what the document shows below the command. */
export type Documented = { text: string; output: string };

/** The texts of code spans, also of those between two backquotes, which may hold one. */
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

/** A block of a shell is one script. In the other blocks a command stands behind `$`, or begins a line. */
function commandsOf({ language, lines }: Block): Documented[] {
  if (language === 'sh') return [{ text: lines.join('\n'), output: '' }];
  const found: Documented[] = [];
  // A line that ends with a backslash goes on in the next one.
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

/** Filters of workflows, as the Temporal UI takes them: a name, an operator, a value. */
export function queriesIn(text: string): string[] {
  return spansIn(split(text).prose).filter((span) =>
    /^`?[A-Z][a-z]\w*`? (?:=|!=|[<>]=?|IN|IS|BETWEEN|STARTS_WITH) .+$/.test(span),
  );
}

/** The beginning of a command of the command-line tool in a span of its own page, such as `inbox list --assigned-to me`. */
export const abbreviatedIn = (text: string, nouns: ReadonlySet<string>): string[] =>
  spansIn(split(text).prose).filter((span) => nouns.has(span.split(' ')[0]!) && span.includes(' '));

/** The words of a command as a shell gives them; what it reads from a file is left out. */
export const wordsOf = (command: string): string[] =>
  [...command.replace(/ < \S+$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );

export type DocumentedRequest = { method: string; path: string };

/** Requests that stand in spans, such as `PUT …/server`; what a path is given behind a `?` is left out. */
export const requestsIn = (text: string): DocumentedRequest[] =>
  spansIn(split(text).prose).flatMap((span) => {
    const [, methods, path] = /^((?:GET|POST|PUT|PATCH|DELETE)(?:\|[A-Z]+)*) ([^\s?]+)/.exec(span) ?? [];
    return (methods ?? '').split('|').flatMap((method) => (path === undefined ? [] : [{ method, path }]));
  });
