/**
 * Moves the footnotes and endnotes of a Word document to the places that refer to them, because far from their sentence
 * they explain nothing. It works on mammoth's parsed document, before mammoth writes HTML.
 */
/** A node of mammoth's document, with the members that are used here. */
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

/**
 * Returns the document with the text of each note at the end of the paragraph that refers to it. The reference marks
 * are removed.
 */
export function placeNotes(document: WordDocument): WordNode {
  const place = (node: WordNode): WordNode[] => {
    if (!node.children) return [node];
    if (node.type !== 'paragraph') return [{ ...node, children: node.children.flatMap(place) }];
    const references = new Map<string, WordNode>();
    const children = node.children.flatMap((child) => withoutMarks(child, references));
    const notes = [...references.values()].map((reference) => inline(document.notes.resolve(reference)?.body ?? []));
    // A note on a heading becomes a paragraph below the heading.
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

/** Removes the note references from a node. They are added to `references`, without duplicates. */
function withoutMarks(node: WordNode, references: Map<string, WordNode>): WordNode[] {
  if (node.type === 'noteReference') {
    references.set(`${node.noteType} ${node.noteId}`, node);
    return [];
  }
  if (!node.children) return [node];
  return [{ ...node, children: node.children.flatMap((child) => withoutMarks(child, references)) }];
}

/** A note's body in one line: paragraphs are joined with a blank. Notes on notes are dropped. */
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

/** Removes a leading blank, because Word writes one between a note's mark and its text. */
function trimStart(nodes: readonly WordNode[]): WordNode[] {
  const at = nodes.findIndex((node) => textOf([node]).trim() !== '');
  const first = nodes[at];
  if (!first) return [];
  const trimmed = first.children
    ? { ...first, children: trimStart(first.children) }
    : { ...first, value: (first.value ?? '').trimStart() };
  return [trimmed, ...nodes.slice(at + 1)];
}
