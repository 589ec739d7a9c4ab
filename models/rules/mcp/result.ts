/**
 * Sanitizes tool results before they are stored and shown: text without active content, within size limits. Results are
 * not instructions: the model gets them marked as data, and no instruction in them is followed.
 */

/** The maximum lengths of a result as stored and as shown to a customer, in characters. */
export const maxResultLength = 16_000;
export const maxShownLength = 2_000;
const cut = ' […]';
const maxUri = 2_000;

/** One content block of a tool result, as MCP defines it. */
export type ContentBlock = Readonly<Record<string, unknown>> & { type: string };
export type ToolResult = { text: string; structured?: unknown; is_error: boolean };

/** A progress report from a tool's server. */
export type Progress = { progress: number; total?: number | undefined; message?: string | undefined };

/** The progress of a call in one line for the customer; undefined when the report has no usable content. */
export function progressText(title: string, { progress, total, message }: Progress): string | undefined {
  const said = typeof message === 'string' ? harmlessText(message.slice(0, 1_000), 200).replace(/\s+/g, ' ') : '';
  if (said !== '') return `${title}: ${said}`;
  if (typeof total !== 'number' || !(total > 0) || !(progress >= 0)) return undefined;
  return `${title}: ${Math.min(100, Math.round((progress / total) * 100))} %`;
}

/** Elements whose content must not be shown as text. */
const activeElement = /<(script|style|iframe|object|embed|template|noscript|svg|math)(?![\w-])/i;
/**
 * A tag is a name alone, or a name with attributes, one of which has a value. So an address in angle brackets, such as
 * `<ada@shop.example>`, is no tag, and neither is `<b and c>`.
 */
const anyTag = /<(?:\/?[a-z][a-z0-9-]*\s*\/?|[a-z][a-z0-9-]*\s[^<>=]{0,4000}=[^<>]{0,4000}|[!?][^<>]{0,4000})>/gi;
/** URL schemes that run code or load content when a link is shown or followed. */
const activeSchemes = /\b(?:javascript|vbscript|data|file|blob)\s*:/gi;
const markdownImage = /!\[([^\]\n]{0,500})\]\([^)\n]{0,4000}\)/g;
/** Control characters except tabs and line breaks, and characters that change the text direction or hide text. */
const invisible = new RegExp(
  String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]`,
  'gu',
);

/** Removes markup that runs, loads or hides anything, and truncates the text to `max` characters. */
export function harmlessText(text: string, max = maxResultLength): string {
  // The text is truncated first, to bound the work of the regular expressions.
  const bounded = text.slice(0, 4 * max);
  const plain = withoutActive(bounded)
    .replace(invisible, '')
    .replace(/\r\n?/g, '\n')
    .replace(markdownImage, '$1')
    .replace(anyTag, ' ')
    // Removing a nested tag could leave a new tag, so a blank is put between each remaining `<` and the name after it.
    .replace(/<(?=[a-z/!?])/gi, '< ')
    .replace(activeSchemes, (scheme) => scheme.replace(':', ' '))
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return shortened(plain, max);
}

/** The text with at most `max` characters. The mark `[…]` at the end shows that text is left out. */
export const shortened = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max - cut.length).replace(/[\ud800-\udbff]$/, '') + cut;

/** Removes elements with active content. An element that is never closed removes the rest of the text. */
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

/**
 * The sanitized result of a tool. Files and links are replaced by their name and address, and images and sounds by
 * their type.
 */
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

/** Sanitizes every string inside a value; values nested deeper than 20 levels are dropped. */
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
