/**
 * Reads a mail (RFC 5322, MIME): its author, what the author wrote, and the attachments. It runs only inside a file
 * process and in tests. The author's text is the text without quoted history and signature.
 */
import EmailReplyParser from 'email-reply-parser';
import { DOMParser } from 'linkedom';
import PostalMime, { addressParser, decodeWords, type Email } from 'postal-mime';
import { signerOf } from './authentication.ts';
import { addHtml } from './html.ts';
import { Blocks, tidy, type Limits } from './limits.ts';
import type { Block } from '../../models/rules/knowledge/chunks.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { maxMailBytes, type ReadMail } from './mailformat.ts';
import { domainOf } from '../../models/rules/access/mailbox.ts';
import { tellingHeaders, type MailHeader } from '../../models/rules/events/mailin.ts';
import { withoutClosing } from '../../models/rules/language/closings.ts';
import { markerLine, messageIdsIn } from '../../models/rules/events/mailout.ts';

/** How much of a mail's text is examined: the parser of quotes takes seconds for long texts of short lines. */
const maxText = 64 * 1024;
const maxLine = 1_000;
const maxLines = 2_000;
const maxHtml = 1024 * 1024;
const maxHeaders = 200;
const maxAttachments = 50;

export async function readMail(bytes: Buffer, limits: Limits): Promise<ReadMail> {
  if (bytes.length > maxMailBytes) throw new Unreadable('too_large');
  const mail = await parse(bytes);
  const plain = (mail.text ?? '').trim() !== '';
  const { full, own } = plain ? ofText(mail.text!) : ofHtml(mail.html ?? '', limits);
  const from = authorOf(mail);
  return {
    from,
    subject: tidy((mail.subject ?? '').slice(0, maxLine)).replace(/\s+/g, ' '),
    message_id: messageIdsIn(mail.messageId)[0] ?? '',
    in_reply_to: messageIdsIn(mail.inReplyTo),
    references: messageIdsIn(mail.references),
    signed_by: from.address === '' ? '' : signerOf(mail.headers, domainOf(from.address)),
    headers: mail.headers
      .filter(({ key }) => tellingHeaders.has(key))
      .slice(0, maxHeaders)
      .map(({ key, value }): MailHeader => [key, value.slice(0, maxLine)]),
    text: authored(own),
    full_text: tidy(full),
    attachments: mail.attachments.slice(0, maxAttachments).map(({ filename, mimeType, content }) => ({
      filename: tidy((filename ?? '').slice(0, 255)).replace(/\s+/g, ' '),
      mime_type: mimeType.slice(0, 100),
      bytes: typeof content === 'string' ? content.length : content.byteLength,
    })),
  };
}

/** Parses the mail with its declared encoding or, where that is provably wrong, with the usual one. */
async function parse(bytes: Buffer): Promise<Email> {
  const read = (raw: Uint8Array) => PostalMime.parse(raw, { maxNestingDepth: 256 });
  const declared = await read(bytes);
  if (!garbled(declared)) return declared;
  const amended = await read(Buffer.from(asWindows1252(bytes.toString('latin1')), 'latin1'));
  return garbled(amended) ? declared : amended;
}

/** Whether most characters outside ASCII were lost: then the declared or implied encoding is wrong. */
function garbled({ text = '', html = '' }: Email): boolean {
  const sample = text.slice(0, maxText) + html.slice(0, maxText);
  const lost = sample.match(/\ufffd/g)?.length ?? 0;
  return lost > (sample.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0);
}

/**
 * Declares windows-1252 for text parts that have no encoding or claim UTF-8 or ASCII: most mails without one are
 * written in it.
 */
const asWindows1252 = (raw: string): string =>
  (/^content-type:/im.test(raw.slice(0, headEnd(raw)))
    ? raw
    : `Content-Type: text/plain; charset=windows-1252\r\n${raw}`
  )
    .replace(/\bcharset\s*=\s*"?(?:utf-?8|us-ascii|ascii|unknown-8bit)"?/gi, 'charset=windows-1252')
    .replace(/^(content-type:\s*text\/(?:plain|html))[ \t]*(?=\r?\n(?![ \t]))/gim, '$1; charset=windows-1252');

/** Where the headers of a mail end. */
const headEnd = (raw: string): number => {
  const at = raw.search(/\r?\n\r?\n/);
  return at === -1 ? raw.length : at;
};

/** With several authors, or several headers that name one, none can be believed. */
function authorOf({ headers }: Email): { name: string; address: string } {
  const named = headers
    .filter(({ key }) => key === 'from')
    .flatMap(({ value }) => addressParser(value.slice(0, maxLine * 4)));
  const [author, ...others] = named;
  if (author?.address === undefined || others.length > 0) return { name: '', address: '' };
  return { name: tidy(decodeWords(author.name)).replace(/\s+/g, ' '), address: author.address.trim() };
}

/** Cuts the text to what the parser of quotes handles in milliseconds. */
const bounded = (text: string): string =>
  text
    .slice(0, maxText * 2)
    .replace(/\r\n?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .split('\n', maxLines)
    .map((line) => line.slice(0, maxLine))
    .join('\n')
    .slice(0, maxText);

/** The text without quoted history and signature; when nothing is left, only without the quoted lines. */
function authored(text: string): string {
  const said = tidy(aboveMarker(new EmailReplyParser().read(bounded(text)).getVisibleText()));
  if (said !== '') return withoutClosing(said);
  // The answer is below the quotation; the line above it only names whom it quotes.
  const lines = text.split('\n');
  const isQuoted = (line: string): boolean => /^\s*>/.test(line);
  const below = lines.slice(Math.max(0, lines.findIndex(isQuoted)));
  return withoutClosing(tidy(below.filter((line) => !isQuoted(line) && !markerLine.test(line)).join('\n')));
}

/** The text above the line with which our own mails begin. */
function aboveMarker(text: string): string {
  const at = text.search(markerLine);
  return at === -1 ? text : text.slice(0, at);
}

/** The elements in which mail programs wrap quoted history and signatures. */
const quoted = [
  '.gmail_quote',
  '.gmail_attr',
  'blockquote[type=cite]',
  '.yahoo_quoted',
  '.protonmail_quote',
  '.moz-cite-prefix',
  '#appendonsend~*',
  '#divRplyFwdMsg',
  '#divRplyFwdMsg~*',
  '.gmail_signature',
  '.moz-signature',
].join(',');
/** Outlook marks a quotation only by a line above the quoted mail's headers. */
const outlookHead = /^\s*(?:From|Von|De)\s*:/u;

/** The part of linkedom's DOM that is used; its own types are a browser's. */
type Dom = {
  textContent: string | null;
  nextSibling: Dom | null;
  remove(): void;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Dom>;
  toString(): string;
};

/** A mail's text, with and without quotations. */
type Said = { full: string; own: string };

function ofText(text: string): Said {
  const full = bounded(text);
  return { full, own: full };
}

function ofHtml(html: string, limits: Limits): Said {
  if (html === '') return { full: '', own: '' };
  const page = `<!doctype html><html><body>${html.slice(0, maxHtml)}</body></html>`;
  const document = new DOMParser().parseFromString(page, 'text/html') as unknown as Dom;
  removeHidden(document);
  const full = textOf(document, limits);
  removeQuotes(document);
  return { full, own: textOf(document, limits) };
}

function textOf(document: Dom, limits: Limits): string {
  const blocks = new Blocks(limits);
  addHtml(blocks, limits, document.toString());
  return bounded(blocks.list.map(lineOf).join('\n\n'));
}

const hidingStyle = /(?:^|[;\s{])(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)/i;
/** A rule of a style sheet for one class or id; rules inside `@media` are for other sizes and media. */
const styleRule = /([^{}]{1,500})\{([^{}]{0,2000})\}/g;
const simpleSelector = /^[a-z]{0,10}([.#])([\w-]{1,100})$/i;
const maxRules = 500;

/**
 * Removes what the author's mail program hides, such as the preview line of mailing lists: the author neither saw nor
 * wrote it.
 */
function removeHidden(document: Dom): void {
  for (const element of document.querySelectorAll('[hidden],[style]')) {
    if (element.hasAttribute('hidden') || hidingStyle.test(element.getAttribute('style') ?? '')) element.remove();
  }
  const hiding = new Set<string>();
  for (const sheet of document.querySelectorAll('style')) {
    const rules = (sheet.textContent ?? '')
      .slice(0, maxText)
      .replace(/@media[^{]{0,500}\{(?:[^{}]{0,2000}\{[^{}]{0,2000}\})*[^{}]*\}/gi, '');
    for (const [, selectors = '', style = ''] of [...rules.matchAll(styleRule)].slice(0, maxRules))
      if (hidingStyle.test(style)) for (const one of selectors.split(',')) hiding.add(one.trim());
  }
  for (const selector of hiding) {
    if (!simpleSelector.test(selector)) continue;
    for (const element of document.querySelectorAll(selector)) element.remove();
  }
}

function removeQuotes(document: Dom): void {
  for (const element of document.querySelectorAll(quoted)) element.remove();
  for (const element of document.querySelectorAll('div[style*="border-top:solid"]')) {
    if (!outlookHead.test(element.textContent ?? '')) continue;
    while (element.nextSibling) element.nextSibling.remove();
    element.remove();
  }
}

function lineOf(block: Block): string {
  if (block.kind === 'row') return block.cells.map(([, value]) => value).join(' | ');
  return block.text;
}
