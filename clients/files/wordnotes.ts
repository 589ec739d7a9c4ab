/**
 * Puts the notes of a Word document where they are referred to, because far from their sentence they explain nothing.
 * It works on the document that mammoth has read, before mammoth writes it as HTML.
 */
/** The parts of mammoth's document that are used here. */
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

/** The document with the text of each note at the end of the paragraph that refers to it, and without the marks. */
export function placeNotes(document: WordDocument): WordNode {
  const place = (node: WordNode): WordNode[] => {
    if (!node.children) return [node];
    if (node.type !== 'paragraph') return [{ ...node, children: node.children.flatMap(place) }];
    const references = new Map<string, WordNode>();
    const children = node.children.flatMap((child) => withoutMarks(child, references));
    const notes = [...references.values()].map((reference) => inline(document.notes.resolve(reference)?.body ?? []));
    // A heading names the text below it, so its note goes to the first text there.
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

/** A node without its references, which are added to `references`, each note once. */
function withoutMarks(node: WordNode, references: Map<string, WordNode>): WordNode[] {
  if (node.type === 'noteReference') {
    references.set(`${node.noteType} ${node.noteId}`, node);
    return [];
  }
  if (!node.children) return [node];
  return [{ ...node, children: node.children.flatMap((child) => withoutMarks(child, references)) }];
}

/** The body of a note in one line: paragraphs are joined with a blank; notes on notes are left out. */
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

/** Nodes without the blank at their beginning: Word writes one between a note's mark and its text. */
function trimStart(nodes: readonly WordNode[]): WordNode[] {
  const at = nodes.findIndex((node) => textOf([node]).trim() !== '');
  const first = nodes[at];
  if (!first) return [];
  const trimmed = first.children
    ? { ...first, children: trimStart(first.children) }
    : { ...first, value: (first.value ?? '').trimStart() };
  return [trimmed, ...nodes.slice(at + 1)];
}
