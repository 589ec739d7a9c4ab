/**
 * The only way to write to the terminal: text for people, or one JSON document for scripts. All text passes through
 * `visible`, so that no text from a server (names, answers) can move the cursor, set a colour or forge a line.
 */
import type { Writable } from 'node:stream';
import progress from 'cli-progress';

export type Stream = Writable & { isTTY?: boolean; columns?: number };

export type Output = {
  json: boolean;
  /** Whether a progress bar may be drawn: output is text and goes to a terminal. */
  live: boolean;
  /** The stream for progress bars and prompts, so that stdout has only results. */
  stderr: Stream;
  /** Maximum characters of a line: the terminal's width, at most 100; 100 without a terminal. */
  width: number;
  /** Prints the command's result: `value` with --json, otherwise `lines`. Call it once for each command. */
  result(value: unknown, lines: () => readonly string[]): void;
  /** Prints at once a message that is not part of the result: text on stdout for people, nothing with --json. */
  say(line: string): void;
  /** Prints a hint or a warning on stderr; nothing with --json. */
  note(line: string): void;
};

/**
 * Characters that control a terminal: control characters (C0, DEL, C1), line and paragraph separators, direction
 * overrides, the byte order mark, and invisible tag characters.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it finds
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Makes a line safe to print: characters that control a terminal are escaped, as in `\u001b`. A tab becomes a blank.
 */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll('\t', ' ').replace(obeyed, escaped);
}

/** Makes several lines safe to print; only `\n` (or `\r\n`) separates lines. */
export function visibleLines(text: string): string[] {
  return text.split(/\r?\n/).map(visible);
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** JSON in which characters that control a terminal are written as ASCII escapes. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
    .split('\n')
    .map((line) => line.replace(obeyed, escaped))
    .join('\n');
}

/**
 * Wraps text at blanks into lines of at most `width` characters. Longer words stay whole; existing line breaks are
 * kept.
 */
export function wrap(text: string, width: number): string[] {
  return visibleLines(text).flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    for (const word of line.trimEnd().split(' ')) {
      if (current !== '' && current.length + 1 + word.length > width) {
        lines.push(current);
        current = word;
      } else current = current === '' ? word : `${current} ${word}`;
    }
    return [...lines, current];
  });
}

/** Formats rows under a header in columns. The last column is not padded. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [header, ...rows].map((row) => row.map(visible));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Wraps text like `wrap`, but text in backquotes stays on one line, so that a command can be copied. */
function wrapAround(text: string, width: number): string[] {
  const joined = text.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(' ', '\u00a0'));
  return wrap(joined, width).map((line) => line.replaceAll('\u00a0', ' '));
}

/** Formats the details of a workflow, which are Markdown, for a terminal: tables as columns, each `<br>` as a line. */
export function detailLines(details: string, width: number): string[] {
  const cellsOf = (line: string): string[] =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  const blocks = details.split('\n\n').map((block) => block.split('\n'));
  return blocks.flatMap((lines, index) => {
    const gap = index === 0 ? [] : [''];
    if (!lines[0]!.startsWith('|')) return [...gap, ...lines.flatMap((line) => wrap(line, width))];
    const [head, , ...rows] = lines.map(cellsOf);
    const shown = [head!, ...rows].filter((row) => row.some((cell) => cell !== ''));
    const start = shown[0]!.slice(0, -1).map((_, column) => Math.max(...shown.map((row) => row[column]!.length)));
    const indent = start.reduce((sum, one) => sum + one + 2, 0);
    const formatted = shown.flatMap((row) => {
      const last = row
        .at(-1)!
        .split('<br>')
        .flatMap((line) => wrapAround(line, width - indent));
      const first = start.map((one, column) => `${visible(row[column]!).padEnd(one)}  `).join('');
      return last.map((line, at) => `${at === 0 ? first : ' '.repeat(indent)}${line}`);
    });
    return [...gap, ...formatted];
  });
}

/** Formats a record of the API for people: a line for each field, nested fields indented below. */
export function record(value: unknown, width: number, indent = ''): string[] {
  return Object.entries(value as object).flatMap(([name, field]: [string, unknown]) => {
    const head = `${indent}${name}:`;
    const lines = fieldLines(field, width - indent.length - 2, `${indent}  `);
    return lines.length === 1 ? [`${head} ${lines[0]!.trim()}`] : [head, ...lines];
  });
}

/**
 * The lines of a field's value. Each value takes one line if it fits. Simple values of a list are joined by commas;
 * each record of a list begins with a dash.
 */
function fieldLines(field: unknown, width: number, indent: string): string[] {
  if (field === null || field === undefined || field === '') return ['-'];
  if (typeof field !== 'object')
    return wrap(String(field as string | number | boolean), width).map((line) => indent + line);
  if (!Array.isArray(field))
    return Object.keys(field).length === 0 ? ['-'] : ['', ...record(field, width, indent)].slice(1);
  if (field.length === 0) return ['-'];
  if (field.every((entry) => typeof entry !== 'object'))
    return wrap(field.join(', '), width).map((line) => indent + line);
  return field.flatMap((entry: unknown) => {
    const [first = '', ...others] =
      typeof entry === 'object' && entry !== null
        ? record(entry, width, `${indent}  `)
        : [`${indent}  ${String(entry)}`];
    return [`${indent}- ${first.slice(indent.length + 2)}`, ...others];
  });
}

/** A UTC time as `2025-11-21 00:14`. */
export function shortTime(iso: string | null): string {
  return iso === null ? '-' : iso.slice(0, 16).replace('T', ' ');
}

/** A number of bytes with a unit: `512 B`, `1.4 KiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

export function createOutput(options: { json: boolean; stdout: Stream; stderr: Stream }): Output {
  const { json, stdout, stderr } = options;
  const print = (stream: Stream, line: string): void => void stream.write(`${visible(line)}\n`);
  return {
    json,
    live: !json && stdout.isTTY === true && stderr.isTTY === true,
    stderr,
    width: Math.min(stdout.columns ?? 100, 100),
    result(value, lines) {
      if (json) stdout.write(`${visibleJson(value)}\n`);
      else for (const line of lines()) print(stdout, line);
    },
    say(line) {
      if (!json) print(stdout, line);
    },
    note(line) {
      if (!json) print(stderr, line);
    },
  };
}

export type Bar = { update(value: number, payload?: object): void; stop(): void };

/** A progress bar for a person at a terminal; otherwise nothing is drawn. `payload`: values for `format`. */
export function createBar(output: Output, format: string, total: number, payload: object): Bar {
  if (!output.live) return { update: () => undefined, stop: () => undefined };
  const bar = new progress.SingleBar({
    stream: output.stderr,
    format,
    barsize: 20,
    barCompleteChar: '#',
    barIncompleteChar: '-',
    // The bar is cleared, so that the plain lines of the result replace it.
    clearOnComplete: true,
    linewrap: true,
    // The library's handler would swallow the first Ctrl-C, and no hidden cursor needs to be restored.
    gracefulExit: false,
  });
  bar.start(total, 0, payload);
  return bar;
}
