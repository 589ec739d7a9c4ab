/**
 * The parts of a Word document as its readers see them: what the author hid is cut out of the XML, since mammoth would
 * show it, and notes are put where they are referred to, since far from their sentence they explain nothing.
 */
import { partOf, readRelations, readXml, type Archive } from './zip.ts';

/** By style id whether the style hides its text; a style that says nothing is missing. */
export type HidingStyles = ReadonlyMap<string, boolean>;

/** Styles are based on each other; Word itself allows about ten steps. */
const maxStyleSteps = 20;

const isOn = (value: string | undefined): boolean => !/^(?:0|false|off)$/.test(value ?? '');

/** Finds the styles that hide text, their own or by the style they are based on. */
export async function readHidingStyles(archive: Archive): Promise<HidingStyles> {
  const main = partOf(archive, await readRelations(archive, ''), '/officeDocument') ?? 'word/document.xml';
  const linked = partOf(archive, await readRelations(archive, main), '/styles');
  const part = linked ?? 'word/styles.xml';
  const styles = new Map<string, { hides?: boolean; base?: string }>();
  if (!archive.names.includes(part)) return new Map();
  const path: string[] = [];
  let open: { hides?: boolean; base?: string } = {};
  await readXml(archive, part, {
    open(name, { styleId, val }) {
      const parents = path.slice(-2).join('/');
      if (name === 'style') {
        open = {};
        if (styleId !== undefined && !styles.has(styleId)) styles.set(styleId, open);
      } else if (name === 'basedOn' && val !== undefined) open.base = val;
      else if (name === 'vanish' && parents === 'style/rPr') open.hides = isOn(val);
      path.push(name);
    },
    close: () => void path.pop(),
  });
  const found = new Map<string, boolean>();
  for (const [id, style] of styles) {
    let step: typeof open | undefined = style;
    for (let count = 0; step && step.hides === undefined && count < maxStyleSteps; count += 1) {
      step = step.base === undefined ? undefined : styles.get(step.base);
    }
    if (step?.hides !== undefined) found.set(id, step.hides);
  }
  return found;
}

/** An open element: whether it hides its text by itself or by its style. */
type Open = { name: string; from: number; hides?: boolean; styled?: boolean | undefined; field: boolean };

/** The XML of a part without hidden text and hidden table rows. Throws like `readXml`. */
export async function readVisible(archive: Archive, part: string, styles: HidingStyles): Promise<string> {
  const pieces: string[] = [];
  const path: Open[] = [];
  /** Ends of the opening and closing tags of what is hidden; none lies within another. */
  const cuts: [open: number, close: number][] = [];
  await readXml(archive, part, {
    open(name, { val }, from) {
      const parent = path.at(-1);
      const owner = path.at(-2);
      const place = `${owner?.name}/${parent?.name}/${name}`;
      if (owner && (place === 'r/rPr/vanish' || place === 'tr/trPr/hidden')) owner.hides = isOn(val);
      else if (owner && (place === 'r/rPr/rStyle' || place === 'p/pPr/pStyle')) owner.styled = styles.get(val ?? '');
      else if (parent?.name === 'r' && name === 'fldChar') parent.field = true;
      path.push({ name, from, field: false });
    },
    close(_name, end) {
      const element = path.pop();
      if (element?.name !== 'r' && element?.name !== 'tr') return;
      const paragraph = element.name === 'r' ? path.findLast(({ name }) => name === 'p') : undefined;
      // The marks of a field stay, or what they enclose would lose its end.
      if (!(element.hides ?? element.styled ?? paragraph?.styled) || element.field) return;
      while ((cuts.at(-1)?.[0] ?? 0) > element.from) cuts.pop();
      cuts.push([element.from, end]);
    },
    source: (piece) => void pieces.push(piece),
  });
  const source = pieces.join('');
  let from = 0;
  let visible = '';
  for (const [open, close] of cuts) {
    // No attribute holds the character that opens a tag.
    visible += source.slice(from, source.lastIndexOf('<', open - 1));
    from = close;
  }
  return visible + source.slice(from);
}

/** What of mammoth's document is looked at here. */
export type WordNode = {
  type: string;
  value?: string;
  children?: WordNode[];
  styleName?: string | null;
  noteType?: string;
  noteId?: string;
};
export type WordDocument = WordNode & { notes: { resolve(reference: WordNode): { body: WordNode[] } | null } };

const textOf = (nodes: readonly WordNode[]): string =>
  nodes.map((node) => (node.value ?? '') + textOf(node.children ?? [])).join('');
const plain = (value: string): WordNode => ({ type: 'text', value });

/** The document with the text of each note at the end of the paragraph that refers to it, and without its marks. */
export function placeNotes(document: WordDocument): WordNode {
  const place = (node: WordNode): WordNode[] => {
    if (!node.children) return [node];
    if (node.type !== 'paragraph') return [{ ...node, children: node.children.flatMap(place) }];
    const references = new Map<string, WordNode>();
    const children = node.children.flatMap((child) => withoutMarks(child, references));
    const notes = [...references.values()].map((reference) => inline(document.notes.resolve(reference)?.body ?? []));
    // A heading names what is under it; what explains it is the first text there.
    if (/^(?:heading|title)/i.test(node.styleName ?? '')) {
      return [{ ...node, children }, ...notes.map((note) => ({ type: 'paragraph', children: note }))];
    }
    let before = textOf(children);
    for (const note of notes) {
      const text = textOf(note);
      if (text.trim() === '') continue;
      const ended = /[.!?:…]["'”’)]?$/.test(before.trimEnd().slice(-2));
      children.push(...(ended ? [plain(' '), ...note] : [plain(' ('), ...note, plain(')')]));
      before = ended ? text : '.)';
    }
    return [{ ...node, children }];
  };
  return { ...document, children: (document.children ?? []).flatMap(place) };
}

/** A node without the references in it, which are added to `references`, each note once. */
function withoutMarks(node: WordNode, references: Map<string, WordNode>): WordNode[] {
  if (node.type === 'noteReference') {
    references.set(`${node.noteType} ${node.noteId}`, node);
    return [];
  }
  if (!node.children) return [node];
  return [{ ...node, children: node.children.flatMap((child) => withoutMarks(child, references)) }];
}

/** The body of a note in one line: paragraphs follow each other with a blank; notes on notes are left out. */
function inline(body: readonly WordNode[]): WordNode[] {
  return trimStart(
    body.flatMap((node): WordNode[] => {
      if (node.type === 'noteReference') return [];
      if (node.type === 'paragraph' || node.type.startsWith('table'))
        return [plain(' '), ...inline(node.children ?? [])];
      return withoutMarks(node, new Map());
    }),
  );
}

/** Nodes without the blank at their beginning: Word puts one between a note's mark and its text. */
function trimStart(nodes: readonly WordNode[]): WordNode[] {
  const at = nodes.findIndex((node) => textOf([node]).trim() !== '');
  const first = nodes[at];
  if (!first) return [];
  const trimmed = first.children
    ? { ...first, children: trimStart(first.children) }
    : { ...first, value: (first.value ?? '').trimStart() };
  return [trimmed, ...nodes.slice(at + 1)];
}
