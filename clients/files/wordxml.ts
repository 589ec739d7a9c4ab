/**
 * Reduces a part of a Word document to the elements that mammoth needs, as a stream. Word writes about 200 bytes of XML
 * around each word, and mammoth builds two trees from the XML. After the reduction a tree has only a few nodes for each
 * paragraph. Content that the author hid, deleted or struck out is removed. Text inside elements unknown to mammoth is
 * kept.
 */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { Limits } from './limits.ts';
import { raise } from './raise.ts';
import { isOn, type HidingStyles } from './wordstyles.ts';
import { readXml, type Archive, type XmlHandlers } from './zip.ts';

/** The namespaces of Word's elements: in ordinary files, and in files saved as "Strict Open XML". */
const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const strictNamespace = 'http://purl.oclc.org/ooxml/wordprocessingml/main';
const relationshipNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006/relationships';

/**
 * The elements that are kept, with the attributes that mammoth reads. An element in none of these lists is dropped but
 * its text is kept, for example a field, a revision, a content control or a ruby.
 */
const kept: ReadonlyMap<string, readonly string[]> = new Map([
  ...['document', 'body', 'footnotes', 'endnotes', 'p', 'tbl', 'tr', 'tc', 'pPr', 'numPr', 'trPr', 'tcPr', 'tblHeader']
    .concat(['styles', 'numbering'])
    .map((name): [string, string[]] => [name, []]),
  ...['pStyle', 'ilvl', 'numId', 'gridSpan', 'vMerge', 'name', 'numFmt', 'numStyleLink', 'abstractNumId'].map(
    (name): [string, string[]] => [name, ['val']],
  ),
  ['footnote', ['id', 'type']],
  ['endnote', ['id', 'type']],
  ['style', ['type', 'styleId']],
  ['abstractNum', ['abstractNumId']],
  ['lvl', ['ilvl']],
  ['num', ['numId']],
]);
/** Elements that are removed when they are empty. */
const removedEmpty = new Set(['p', 'pPr', 'numPr', 'trPr', 'tcPr']);
/** The elements that contain properties, and the properties that are read from each. */
const properties: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  pPr: new Set(['pStyle', 'numPr', 'rPr']),
  numPr: new Set(['ilvl', 'numId']),
  rPr: new Set(['vanish', 'strike', 'dstrike', 'vertAlign', 'rStyle', 'del']),
  trPr: new Set(['hidden', 'del', 'tblHeader']),
  tcPr: new Set(['gridSpan', 'vMerge']),
};
/** Elements that are removed with their content: properties, deleted and moved text, annotations, phonetic guides. */
const dropped = new Set(
  ['del', 'moveFrom', 'rt', 'rubyPr', 'comment', 'sdtPr', 'sdtEndPr', 'customXmlPr', 'smartTagPr', 'fldData'].concat(
    ['ffData', 'sectPr', 'tblPr', 'tblGrid', 'tblPrEx', 'tblStylePr', 'latentStyles', 'docDefaults', 'delText'],
    ['delInstrText'],
  ),
);
/** Maximum length of a field's instruction, in characters: the word HYPERLINK and a URL of 2,000 characters. */
const maxInstruction = 2_100;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');

type Place = { pieces: number; inRun: boolean; text: string };

/** Collects the reduced XML. Adjacent runs of text are merged. */
class Output {
  private readonly pieces: string[] = [];
  private inRun = false;
  private pending = '';
  private characters = 0;
  private readonly max: number;

  constructor(limits: Limits) {
    // The limit is doubled, because hidden text counts here too and is removed later.
    this.max = limits.maxTextCharacters * 2;
  }

  text(text: string): void {
    this.characters += text.length;
    if (this.characters > this.max) throw new Unreadable('too_much_text');
    this.pending += text;
  }

  /** Writes an element inside a run. */
  inline(xml: string): void {
    this.endText();
    if (!this.inRun) this.pieces.push('<w:r>');
    this.inRun = true;
    this.pieces.push(xml);
  }

  /** Writes a tag outside any run; ends the current run. */
  block(xml: string): void {
    this.endText();
    if (this.inRun) this.pieces.push('</w:r>');
    this.inRun = false;
    this.pieces.push(xml);
  }

  /** Closes an element. If only its opening tag was written and `removable` is set, the element is removed. */
  end(open: string, close: string, removable: boolean): void {
    if (removable && this.pending === '' && !this.inRun && this.pieces.at(-1) === open) this.pieces.pop();
    else this.block(close);
  }

  place(): Place {
    return { pieces: this.pieces.length, inRun: this.inRun, text: this.pending };
  }

  hasMoved(since: Place): boolean {
    return this.pieces.length > since.pieces || this.pending.length > since.text.length;
  }

  /** Removes everything that was written after the given place. */
  rewind({ pieces, inRun, text }: Place): void {
    this.pieces.length = pieces;
    this.inRun = inRun;
    this.pending = text;
  }

  toString(): string {
    this.block('');
    return this.pieces.join('');
  }

  private endText(): void {
    if (this.pending === '') return;
    const text = this.pending;
    this.pending = '';
    this.inline(`<w:t>${escape(text)}</w:t>`);
  }
}

/** An element that is open in the input. */
type Open = {
  name: string;
  /** The opening and closing tags that were written for the element; empty when the element is left out. */
  tags: readonly [open: string, close: string];
  /** The position in the output where the element began. */
  start: Place;
  /** Whether the element hides its text, directly or by its style. */
  hides?: boolean;
  styled?: boolean | undefined;
  /** Whether a run's text is struck out. This hides the text whatever `hides` and `styled` say. */
  struck?: boolean;
  /** Whether a run's text is a superscript. */
  raised?: boolean;
  /**
   * Field marks inside a run. They are kept even if the run is hidden; otherwise the enclosing field would never end.
   */
  marks: string[];
  /** For `AlternateContent`: whether one of the alternatives was already taken. */
  chosen: boolean;
};

/** The opening tag of a kept element with its kept attributes. */
function tagOf(name: string, attributes: Readonly<Record<string, string>>): string {
  let tag = `<w:${name}`;
  for (const attribute of kept.get(name) ?? []) {
    const value = attributes[attribute];
    if (value !== undefined) tag += ` w:${attribute}="${escape(value)}"`;
  }
  return `${tag}>`;
}

/** The letter of a `w:sym` in an ordinary font; undefined for symbol fonts, which mammoth translates. */
function ordinarySymbol(font: string | undefined, char: string | undefined): string | undefined {
  const code = /^[0-9a-f]{4}$/i.test(char ?? '') ? Number.parseInt(char ?? '', 16) : 0;
  const ofSymbols = /symbol|dings/i.test(font ?? '') || (code >= 0xe000 && code <= 0xf8ff);
  return ofSymbols || code < 0x20 ? undefined : String.fromCharCode(code);
}

/** Writes the reduced XML of one part, element by element. */
class Rewriter implements XmlHandlers {
  private readonly output: Output;
  private readonly styles: HidingStyles;
  private readonly path: Open[] = [];
  private readonly namespaces = new Map<string, string>();
  /** The number of open elements that are being removed: one element, and its open descendants. */
  private skipping = 0;
  private inText = false;
  private inSuperscript = false;
  private inInstruction = false;
  private instruction = '';
  /** The alternative text for the next picture. */
  private alternative = '';

  constructor(styles: HidingStyles, limits: Limits) {
    this.styles = styles;
    this.output = new Output(limits);
  }

  namespace(prefix: string, uri: string): void {
    this.namespaces.set(prefix, uri);
  }

  open(name: string, attributes: Readonly<Record<string, string>>, prefix: string): void {
    if (this.skipping > 0 || this.isSkipped(name, prefix)) {
      this.skipping += 1;
      return;
    }
    const item: Open = { name, tags: ['', ''], start: this.output.place(), marks: [], chosen: false };
    if (!this.isWord(prefix)) this.openForeign(name, attributes);
    else if (!this.noteProperty(name, attributes)) {
      if (kept.has(name)) this.write(item, tagOf(name, attributes), `</w:${name}>`);
      else this.openInline(item, attributes);
    }
    this.path.push(this.isWord(prefix) ? item : { ...item, name: `:${name}` });
  }

  text(text: string): void {
    if (this.skipping > 0) return;
    if (this.inText) this.output.text(this.inSuperscript ? raise(text) : text);
    else if (this.inInstruction && this.instruction.length < maxInstruction) this.instruction += text;
  }

  close(): void {
    if (this.skipping > 0) {
      this.skipping -= 1;
      return;
    }
    const item = this.path.pop();
    if (!item) return;
    const { name } = item;
    if (name === 't') this.inText = false;
    else if (name === 'instrText') this.endInstruction();
    else if (name === ':Choice') {
      const versions = this.path.at(-1);
      if (versions && this.output.hasMoved(item.start)) versions.chosen = true;
    }
    const [open, close] = item.tags;
    if (close) this.output.end(open, close, removedEmpty.has(name));
    if ((name === 'r' || name === 'tr') && this.isHidden(item)) {
      this.output.rewind(item.start);
      for (const mark of item.marks) this.output.block(mark);
    }
  }

  toString(): string {
    return this.output.toString();
  }

  private isWord(prefix: string): boolean {
    const uri = this.namespaces.get(prefix);
    return uri === wordNamespace || uri === strictNamespace;
  }

  private isSkipped(name: string, prefix: string): boolean {
    const parent = this.path.at(-1);
    // Of several alternatives only one is taken; later ones are fallbacks for programs that do not understand the
    // first.
    if (!this.isWord(prefix)) return parent?.name === ':AlternateContent' && parent.chosen;
    const known = parent && properties[parent.name];
    if (known) return !known.has(name);
    return dropped.has(name) || name.endsWith('Change');
  }

  private write(item: Open, open: string, close: string): void {
    item.tags = [open, close];
    const namespaces = ` xmlns:w="${wordNamespace}" xmlns:r="${relationshipNamespace}">`;
    this.output.block(this.path.length === 0 ? open.slice(0, -1) + namespaces : open);
  }

  /**
   * Records a property on the element that it belongs to. Returns false for a property that is written to the output.
   */
  private noteProperty(name: string, { val }: Readonly<Record<string, string>>): boolean {
    const group = this.path.at(-1)?.name;
    const owner = this.path.at(-2);
    if (!owner || !group || !properties[group]) return name === 'rPr';
    const place = `${owner.name}/${name}`;
    if (name === 'vanish' || name === 'hidden') {
      if (place === 'r/vanish' || place === 'tr/hidden') owner.hides = isOn(val);
    } else if (name === 'strike' || name === 'dstrike') {
      if (isOn(val)) owner.struck = true;
    } else if (name === 'vertAlign') owner.raised = val === 'superscript';
    else if (place === 'tr/del') owner.hides = true;
    else if (name === 'rStyle') owner.styled = this.styles.get(val ?? '');
    else if (place === 'pPr/del') this.output.block('<w:rPr><w:del/></w:rPr>');
    else if (place === 'p/pStyle') {
      owner.styled = this.styles.get(val ?? '');
      return false;
    } else return name === 'rPr' || name === 'del' || (name === 'tblHeader' && !isOn(val));
    return true;
  }

  private openInline(item: Open, attributes: Readonly<Record<string, string>>): void {
    const { id, anchor, font, char, fldCharType } = attributes;
    const parent = this.path.at(-1)?.name;
    switch (item.name) {
      case 't':
        this.inText = parent === 'r';
        this.inSuperscript = this.path.at(-1)?.raised ?? false;
        break;
      case 'instrText':
        this.inInstruction = true;
        break;
      case 'tab':
      case 'ptab':
        if (parent === 'r') this.output.text('\t');
        break;
      case 'br':
      case 'cr':
        this.output.inline('<w:br/>');
        break;
      case 'noBreakHyphen':
        this.output.text('\u2011');
        break;
      case 'sym': {
        const letter = ordinarySymbol(font, char);
        if (letter !== undefined) this.output.text(letter);
        else this.output.inline(`<w:sym w:font="${escape(font ?? '')}" w:char="${escape(char ?? '')}"/>`);
        break;
      }
      case 'footnoteReference':
      case 'endnoteReference':
        this.output.inline(`<w:${item.name} w:id="${escape(id ?? '')}"/>`);
        break;
      case 'fldChar':
        this.mark(`<w:fldChar w:fldCharType="${escape(fldCharType ?? '')}"/>`);
        break;
      case 'hyperlink':
        if (id !== undefined) this.write(item, `<w:hyperlink r:id="${escape(id)}">`, '</w:hyperlink>');
        else if (anchor !== undefined) this.write(item, `<w:hyperlink w:anchor="${escape(anchor)}">`, '</w:hyperlink>');
        break;
      case 'txbxContent':
        // Mammoth puts a text box inside a `w:pict` element after the paragraph to which it is anchored.
        this.write(item, '<w:r><w:pict><w:txbxContent>', '</w:txbxContent></w:pict></w:r>');
        break;
      default:
    }
  }

  /**
   * Writes a mark of a Word field (its begin, separator or end) as a run of its own. Mammoth decides at the end of each
   * run whether the whole run is part of a link. So text before a mark in the same run would be treated like text after
   * the mark.
   */
  private mark(xml: string): void {
    const run = `<w:r>${xml}</w:r>`;
    this.output.block(run);
    this.path.findLast(({ name }) => name === 'r')?.marks.push(run);
  }

  private endInstruction(): void {
    const instruction = this.instruction.replace(/\s+/g, ' ');
    this.inInstruction = false;
    this.instruction = '';
    if (instruction !== '') this.output.inline(`<w:instrText>${escape(instruction)}</w:instrText>`);
  }

  /** Replaces a picture with the author's alternative text. */
  private openForeign(name: string, { descr = '', title = '' }: Readonly<Record<string, string>>): void {
    if (name === 'docPr') this.alternative = descr.trim() === '' ? title : descr;
    else if (name === 'imagedata') this.alternative = title;
    if (name !== 'blip' && name !== 'imagedata') return;
    if (this.alternative.trim() !== '') this.output.text(` ${this.alternative} `);
    this.alternative = '';
  }

  private isHidden({ name, hides, styled, struck }: Open): boolean {
    const paragraph = name === 'r' ? this.path.findLast((open) => open.name === 'p') : undefined;
    return struck === true || (hides ?? styled ?? paragraph?.styled ?? false);
  }
}

/** The relationships of a document that mammoth uses. */
const usedRelations = /\/(officeDocument|styles|numbering|footnotes|endnotes|hyperlink)$/;

/** The relationships of a part that mammoth needs. Relationships to pictures, themes and fonts are dropped. */
export async function rewriteRelations(archive: Archive, part: string): Promise<string> {
  const pieces: string[] = [];
  await readXml(archive, part, {
    open(name, { Id = '', Type = '', Target = '' }) {
      const kind = usedRelations.exec(Type)?.[1];
      if (name !== 'Relationship' || kind === undefined) return;
      const type = `${relationshipNamespace}/${kind}`;
      pieces.push(`<Relationship Id="${escape(Id)}" Type="${type}" Target="${escape(Target)}"/>`);
    },
  });
  return `<Relationships xmlns="${packageNamespace}">${pieces.join('')}</Relationships>`;
}

/** The reduced XML of a part. Throws like `readXml`, and `Unreadable('too_much_text')`. */
export async function rewritePart(
  archive: Archive,
  part: string,
  { styles, limits }: { styles: HidingStyles; limits: Limits },
): Promise<string> {
  const rewriter = new Rewriter(styles, limits);
  await readXml(archive, part, rewriter);
  return rewriter.toString();
}
