/**
 * Parses a mail (RFC 5322, MIME): its author, the author's text without quoted history and signature, and the
 * attachments. It runs only inside a file process and in tests.
 */
import EmailReplyParser from 'email-reply-parser';
import { DOMParser } from 'linkedom';
import PostalMime, { addressParser, decodeWords, type Email } from 'postal-mime';
import { signerOf } from './authentication.ts';
import { addHtml } from './html.ts';
import { Blocks, maxMailBytes, tidy, type Limits } from './limits.ts';
import type { Block } from '../../models/rules/knowledge/chunks.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { ReadMail } from './mailformat.ts';
import { domainOf } from '../../models/rules/access/mailbox.ts';
import { tellingHeaders } from '../../models/rules/events/mailin.ts';
import { isSender, withoutClosing, withPostscripts } from './closings.ts';
import { markerLine, messageIdsIn } from '../../models/rules/events/mailout.ts';

/**
 * At most this much of a mail's text is examined, because the parser of quotations takes seconds for long texts of
 * short lines.
 */
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
      .map(({ key, value }): [string, string] => [key, value.slice(0, maxLine)]),
    text: authored(own),
    full_text: tidy(full),
    attachments: mail.attachments.slice(0, maxAttachments).map(({ filename, mimeType, content }) => ({
      filename: tidy((filename ?? '').slice(0, 255)).replace(/\s+/g, ' '),
      mime_type: mimeType.slice(0, 100),
      bytes: typeof content === 'string' ? content.length : content.byteLength,
    })),
  };
}

/** Parses the mail with its declared encoding. If that is provably wrong, parses again as windows-1252. */
async function parse(bytes: Buffer): Promise<Email> {
  const read = (raw: Uint8Array) => PostalMime.parse(raw, { maxNestingDepth: 256 });
  const declared = await read(bytes);
  if (!garbled(declared)) return declared;
  const amended = await read(Buffer.from(asWindows1252(bytes.toString('latin1')), 'latin1'));
  return garbled(amended) ? declared : amended;
}

/** Whether most non-ASCII characters were lost, which means that the declared or default encoding is wrong. */
function garbled({ text = '', html = '' }: Email): boolean {
  const sample = text.slice(0, maxText) + html.slice(0, maxText);
  const lost = sample.match(/\ufffd/g)?.length ?? 0;
  return lost > (sample.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0);
}

/**
 * Declares windows-1252 for text parts that declare no encoding, UTF-8 or ASCII, because most mails without a correct
 * declaration are in windows-1252.
 */
const asWindows1252 = (raw: string): string =>
  (/^content-type:/im.test(raw.slice(0, headEnd(raw)))
    ? raw
    : `Content-Type: text/plain; charset=windows-1252\r\n${raw}`
  )
    .replace(/\bcharset\s*=\s*"?(?:utf-?8|us-ascii|ascii|unknown-8bit)"?/gi, 'charset=windows-1252')
    .replace(/^(content-type:\s*text\/(?:plain|html))[ \t]*(?=\r?\n(?![ \t]))/gim, '$1; charset=windows-1252');

const headEnd = (raw: string): number => {
  const at = raw.search(/\r?\n\r?\n/);
  return at === -1 ? raw.length : at;
};

/** The single author of a mail. With several authors or several author headers, none is trusted. */
function authorOf({ headers }: Email): { name: string; address: string } {
  const named = headers
    .filter(({ key }) => key === 'from')
    .flatMap(({ value }) => addressParser(value.slice(0, maxLine * 4)));
  const [author, ...others] = named;
  if (author?.address === undefined || others.length > 0) return { name: '', address: '' };
  return { name: tidy(decodeWords(author.name)).replace(/\s+/g, ' '), address: author.address.trim() };
}

/** Truncates the text to a size that the parser of quotations handles in milliseconds. */
const bounded = (text: string): string =>
  text
    .slice(0, maxText * 2)
    .replace(/\r\n?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .split('\n', maxLines)
    .map((line) => line.slice(0, maxLine))
    .join('\n')
    .slice(0, maxText);

const isQuotedLine = (line: string): boolean => /^\s*>/.test(line);

/**
 * The author's text without quoted history and signature, but with postscripts, which are below the signature. If there
 * is no text above the quotation, the author wrote below it. Then the text from the first quoted line on is taken,
 * without the quoted lines. Below a quotation without quoted lines, such as Outlook's, nothing is the author's.
 */
function authored(text: string): string {
  const own = aboveOwnMail(bounded(text));
  const fragments = new EmailReplyParser().read(own).getFragments();
  const said = tidy(aboveMarker(saidIn(fragments)));
  if (said !== '') return withPostscripts(withoutClosing(said), `${said}\n\n${aboveQuotation(fragments)}`);
  // The reply is below the quotation. The lines above the quotation only introduce the quotation, so they are dropped.
  const lines = own.split('\n');
  const quotation = lines.findIndex(isQuotedLine);
  if (quotation === -1 && fragments.some(isQuotation)) return '';
  const below = lines.slice(Math.max(0, quotation));
  const reply = tidy(below.filter((line) => !isQuotedLine(line)).join('\n'));
  return withPostscripts(withoutClosing(reply), reply);
}

/**
 * The text above this system's own mail, if that is quoted without `>`. Outlook puts only a head above such a
 * quotation. The empty line at the beginning is there because the parser recognizes a head only below an empty line.
 */
function aboveOwnMail(text: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => markerLine.test(line) && !isQuotedLine(line));
  return at === -1 ? text : ['', ...lines.slice(0, at)].join('\n');
}

type Fragment = ReturnType<ReturnType<EmailReplyParser['read']>['getFragments']>[number];

/** A signature's first line right above the head of a quoted mail. The parser takes both for a signature. */
const lineAboveHead = /^.*\n\s*(?:From|Von|De|Da|Van|Od)\s?:.*@/u;

const isQuotation = (fragment: Fragment): boolean =>
  fragment.isQuoted() || (fragment.isSignature() && lineAboveHead.test(fragment.getContent()));

/** The first line of a signature (RFC 3676) or of a quotation (Outlook) that a mail program puts there. */
const programLine = /^(?:-- ?|_{32})(?:\n|$)/;

/**
 * The author's text in the fragments. The parser takes lines such as `---` and `Cheers!` for the beginning of a
 * signature. Above the quotation, such a signature is text if more than the sender's details stand below its first
 * line.
 */
function saidIn(fragments: readonly Fragment[]): string {
  const end = fragments.findIndex((fragment) => isQuotation(fragment) || programLine.test(fragment.getContent()));
  let below: string[] = [];
  let said = (end === -1 ? fragments.length : end) - 1;
  for (; said >= 0; said -= 1) {
    const lines = fragments[said]!.getContent().split('\n');
    if (fragments[said]!.isSignature() && !isSender([...lines.slice(1), ...below])) break;
    below = [...lines, ...below];
  }
  return fragments
    .filter((fragment, at) => !fragment.isHidden() || (fragment.isSignature() && at <= said))
    .map((fragment) => fragment.getContent())
    .join('\n');
}

/**
 * The text above the first quotation, including signatures. The text below is left out, because a signature there may
 * be that of the quoted mail.
 */
function aboveQuotation(fragments: readonly Fragment[]): string {
  const at = fragments.findIndex(isQuotation);
  const above = at === -1 ? fragments : fragments.slice(0, at);
  return tidy(aboveMarker(above.map((fragment) => fragment.getContent()).join('\n\n')));
}

/** The text above the marker line (`markerLine`), with which this system's own mails begin. */
function aboveMarker(text: string): string {
  const at = text.search(markerLine);
  return at === -1 ? text : text.slice(0, at);
}

/** CSS selectors of the elements in which mail programs wrap quoted history and signatures. */
const quoted =
  '.gmail_quote, .gmail_attr, blockquote[type=cite], .yahoo_quoted, .protonmail_quote, .moz-cite-prefix, ' +
  '#appendonsend~*, #divRplyFwdMsg, #divRplyFwdMsg~*, .gmail_signature, .moz-signature';
/**
 * The first header of a mail that Outlook quotes. Outlook marks a quotation only by a horizontal line (`border-top`)
 * above the headers of the quoted mail.
 */
const outlookHead = /^\s*(?:From|Von|De)\s*:/u;

/** The part of linkedom's DOM that is used; linkedom's own types need those of a browser. */
type Dom = {
  textContent: string | null;
  nextSibling: Dom | null;
  remove(): void;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Dom>;
  toString(): string;
};

/** A mail's text with quotations (`full`) and without (`own`). */
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
/**
 * Matches a style sheet's rule for one class or id. Rules inside `@media` are removed before, because they are for
 * other screen sizes and media.
 */
const styleRule = /([^{}]{1,500})\{([^{}]{0,2000})\}/g;
const simpleSelector = /^[a-z]{0,10}([.#])([\w-]{1,100})$/i;
const maxRules = 500;

/**
 * Removes elements that the author's mail program hides, such as the preview line of newsletters. The author neither
 * saw nor wrote them.
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
