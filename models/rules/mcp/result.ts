/**
 * What comes back from a tool, made safe to keep and to show: text without anything active, within bounds. It is data: the
 * model gets it fenced, and nothing in it can be an instruction to this system.
 */

/** Longest text of a result that is kept, and that a customer is shown, in characters. */
export const maxResultLength = 16_000;
export const maxShownLength = 2_000;
const cut = ' […]';
const maxUri = 2_000;

/** One block of a tool's answer, as the protocol has it. */
export type ContentBlock = Readonly<Record<string, unknown>> & { type: string };
export type ToolResult = { text: string; structured?: unknown; is_error: boolean };

/** How far a tool is, as its server says. */
export type Progress = { progress: number; total?: number | undefined; message?: string | undefined };

/** What a customer is told of it, in one line; undefined when it says nothing. */
export function progressText(title: string, { progress, total, message }: Progress): string | undefined {
  const said = typeof message === 'string' ? harmlessText(message.slice(0, 1_000), 200).replace(/\s+/g, ' ') : '';
  if (said !== '') return `${title}: ${said}`;
  if (typeof total !== 'number' || !(total > 0) || !(progress >= 0)) return undefined;
  return `${title}: ${Math.min(100, Math.round((progress / total) * 100))} %`;
}

/** Elements whose content is not text for people. */
const activeElement = /<(script|style|iframe|object|embed|template|noscript|svg|math)(?![\w-])/i;
const anyTag = /<\/?[a-z!?][^<>]{0,4000}>/gi;
/** Addresses that run something or load something by being shown. */
const activeSchemes = /\b(?:javascript|vbscript|data|file|blob)\s*:/gi;
const markdownImage = /!\[([^\]\n]{0,500})\]\([^)\n]{0,4000}\)/g;
/** Control characters but tabs and line ends, and those that turn the direction of writing or hide text. */
const invisible = new RegExp(
  String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]`,
  'gu',
);

/** Text without markup that runs, loads or hides anything, at most `max` characters. */
export function harmlessText(text: string, max = maxResultLength): string {
  // Work is bounded before the expressions run.
  const bounded = text.slice(0, 4 * max);
  const plain = withoutActive(bounded)
    .replace(invisible, '')
    .replace(/\r\n?/g, '\n')
    .replace(markdownImage, '$1')
    .replace(anyTag, ' ')
    // What is left of tags inside tags must not become one.
    .replace(/<(?=[a-z/!?])/gi, '< ')
    .replace(activeSchemes, (scheme) => scheme.replace(':', ' '))
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (plain.length <= max) return plain;
  return plain.slice(0, max - cut.length).replace(/[\ud800-\udbff]$/, '') + cut;
}

/** The text without elements whose content runs or loads something; one that is never closed takes the rest with it. */
function withoutActive(text: string): string {
  const kept: string[] = [];
  for (let rest = text; ;) {
    const begin = activeElement.exec(rest);
    if (!begin) return [...kept, rest].join(' ');
    kept.push(rest.slice(0, begin.index));
    const inner = rest.slice(begin.index + begin[0].length);
    const end = inner.search(new RegExp(`</${begin[1]}\\s{0,20}>`, 'i'));
    if (end === -1) return kept.join(' ');
    rest = inner.slice(end);
  }
}

/** What a tool answered; images, sounds and files are named with their addresses, not kept. */
export function resultOf(answer: {
  content?: readonly ContentBlock[] | undefined;
  structured?: unknown;
  isError?: boolean | undefined;
}): ToolResult {
  const said = (answer.content ?? []).slice(0, 100).map(textOf);
  const structured = answer.structured === undefined ? undefined : harmlessValue(answer.structured);
  const text = harmlessText(said.filter((piece) => piece !== '').join('\n'));
  return {
    text: text === '' && structured !== undefined ? harmlessText(JSON.stringify(structured)) : text,
    ...(structured === undefined || JSON.stringify(structured).length > maxResultLength ? {} : { structured }),
    is_error: answer.isError === true,
  };
}

function textOf(block: ContentBlock): string {
  if (block.type === 'text')
    return typeof block['text'] === 'string' ? block['text'].slice(0, 4 * maxResultLength) : '';
  const resource = block.type === 'resource' ? block['resource'] : block;
  const { text, uri, title, name } = (resource ?? {}) as Readonly<Record<string, unknown>>;
  if (block.type === 'resource' && typeof text === 'string') return text.slice(0, 4 * maxResultLength);
  const kind = `[${block.type.replace(/[^a-z_]/g, '').slice(0, 30)}]`;
  if (block.type !== 'resource' && block.type !== 'resource_link') return kind;
  const called = [title, name].find((one) => typeof one === 'string' && one !== '');
  const said = [called, uri].filter((one): one is string => typeof one === 'string').map((one) => one.slice(0, maxUri));
  return said.length === 0 ? kind : said.join(': ');
}

/** The same value with every string made harmless; what is nested deeper than 20 is left out. */
export function harmlessValue(value: unknown, depthLeft = 20): unknown {
  if (typeof value === 'string') return harmlessText(value);
  if (value === null || typeof value !== 'object') return value;
  if (depthLeft === 0) return null;
  if (Array.isArray(value)) return value.slice(0, 1_000).map((entry) => harmlessValue(entry, depthLeft - 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '__proto__' && !name.startsWith('$') && !name.includes('\0'))
      .slice(0, 1_000)
      .map(([name, member]) => [harmlessText(name, 200), harmlessValue(member, depthLeft - 1)]),
  );
}
