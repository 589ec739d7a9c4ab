/**
 * Reconstructs the reading order of a PDF page, because a PDF may draw pieces of text anywhere and in any order. A
 * recursive XY cut splits the page at its widest empty column, then at its empty rows, and reads each part line by
 * line. Pure.
 */

/** A piece of text with its position. `y` counts from the bottom of the page, as in PDF. */
export type Piece = { text: string; x: number; y: number; width: number; height: number };

/** Maximum depth of the recursive cut; real columns are nested less deeply. */
const maxDepth = 8;
/** A page with more pieces is not split; it is read line by line. */
const maxPieces = 20_000;
/**
 * Minimum distances in line heights: between columns, between rows, between pieces of different lines, and between
 * words.
 */
const gaps = { column: 1.2, row: 0.8, line: 0.4, blank: 0.15 } as const;
/** Both sides of a column gap need at least this many lines; a date beside a heading is no column. */
const columnLines = 3;

/** The lines of a page in reading order. */
export function readingOrder(pieces: readonly Piece[]): string[] {
  const shown = pieces.filter(({ text, height }) => text.trim() !== '' && height > 0);
  return shown.length > maxPieces ? linesOf(shown) : cut(shown, 0);
}

function cut(pieces: readonly Piece[], depth: number): string[] {
  if (pieces.length < 2 || depth >= maxDepth) return linesOf(pieces);
  const height = medianHeight(pieces);
  const column = widestGap(
    pieces.map(({ x, width }) => [x, x + width]),
    gaps.column * height,
  );
  if (column !== undefined) {
    const left = pieces.filter(({ x, width }) => x + width / 2 < column);
    const right = pieces.filter(({ x, width }) => x + width / 2 >= column);
    if ([left, right].every((side) => rowsOf(side).length >= columnLines))
      return [...cut(left, depth + 1), ...cut(right, depth + 1)];
  }
  const row = widestGap(
    pieces.map((piece) => [piece.y, piece.y + piece.height]),
    gaps.row * height,
  );
  if (row === undefined) return linesOf(pieces);
  const upper = pieces.filter((piece) => piece.y + piece.height / 2 >= row);
  const lower = pieces.filter((piece) => piece.y + piece.height / 2 < row);
  return [...cut(upper, depth + 1), ...cut(lower, depth + 1)];
}

/** The middle of the widest gap that is at least `least` wide; undefined when there is none. */
function widestGap(spans: readonly (readonly [from: number, to: number])[], least: number): number | undefined {
  const sorted = spans.toSorted(([one], [other]) => one - other);
  let end = sorted[0]![1];
  let widest = least;
  let middle: number | undefined;
  for (const [from, to] of sorted) {
    if (from - end > widest) {
      widest = from - end;
      middle = (from + end) / 2;
    }
    end = Math.max(end, to);
  }
  return middle;
}

function medianHeight(pieces: readonly Piece[]): number {
  const heights = pieces.map(({ height }) => height).toSorted((one, other) => one - other);
  return heights[Math.floor(heights.length / 2)]!;
}

/** Groups pieces that are side by side into rows, from top to bottom. */
function rowsOf(pieces: readonly Piece[]): Piece[][] {
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => other.y - one.y || one.x - other.x)) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (first && Math.abs(first.y - piece.y) < gaps.line * Math.max(first.height, piece.height)) row.push(piece);
    else rows.push([piece]);
  }
  return rows;
}

const linesOf = (pieces: readonly Piece[]): string[] =>
  rowsOf(pieces)
    .map((row) => joined(row.toSorted((one, other) => one.x - other.x)))
    .filter((line) => line !== '');

function joined(row: readonly Piece[]): string {
  let line = '';
  let end: number | undefined;
  for (const { text, x, width, height } of row) {
    const apart = end !== undefined && x - end > gaps.blank * height;
    line += apart && !/\s$/u.test(line) && !/^\s/u.test(text) ? ` ${text}` : text;
    end = x + width;
  }
  return line.replaceAll(/\s+/gu, ' ').trim();
}
