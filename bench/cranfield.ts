/**
 * The Cranfield collection (1,400 abstracts on aerodynamics, 225 questions, graded judgements) and its quality measure.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Cranfield = {
  documents: { id: number; title: string; text: string }[];
  /** The questions are numbered by position, as in the judgements, because the collection's own ids have gaps. */
  questions: { number: number; text: string }[];
  /** Question -> document -> grade. Grade 1 is a complete answer, 4 is of minimum interest, -1 is not relevant. */
  judgements: Map<number, Map<number, number>>;
};

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

/** The text of one field of a record, from its mark to the next mark. */
function field(record: string, mark: string): string {
  const lines = record.split(/\r?\n/u);
  const from = lines.indexOf(`.${mark}`);
  if (from < 0) return '';
  const length = lines.slice(from + 1).findIndex((line) => /^\.[A-Z]$/u.test(line));
  return oneLine(lines.slice(from + 1, length < 0 ? undefined : from + 1 + length).join(' '));
}

/** Reads `cran.all.1400`, `cran.qry` and `cranqrel` from a folder. */
export async function readCranfield(folder: string): Promise<Cranfield> {
  const read = async (name: string): Promise<string> => readFile(join(folder, name), 'latin1');
  const records = (text: string): string[] => text.split(/^\.I /mu).slice(1);
  const judgements = new Map<number, Map<number, number>>();
  for (const line of (await read('cranqrel')).split('\n')) {
    const [question, document, grade] = line.trim().split(/\s+/u).map(Number);
    if (question === undefined || document === undefined || grade === undefined) continue;
    const known = judgements.get(question) ?? new Map<number, number>();
    judgements.set(question, known.set(document, grade));
  }
  return {
    documents: records(await read('cran.all.1400')).map((record) => ({
      id: Number.parseInt(record, 10),
      title: field(record, 'T'),
      text: field(record, 'W'),
    })),
    questions: records(await read('cran.qry')).map((record, index) => ({
      number: index + 1,
      text: field(record, 'W'),
    })),
    judgements,
  };
}

/** The gain of a grade: 4 for grade 1 down to 1 for grade 4; 0 for -1 and for documents without a judgement. */
const gain = (grade: number | undefined): number => (grade === undefined || grade < 1 ? 0 : 5 - grade);

/** nDCG at 10 with linear gain: 1 when the ten best documents come first, in the best order. */
export function ndcg10(ranking: readonly number[], judged: ReadonlyMap<number, number>): number {
  const dcg = (gains: number[]): number =>
    gains.slice(0, 10).reduce((sum, value, index) => sum + value / Math.log2(index + 2), 0);
  const ideal = dcg([...judged.values()].map((grade) => gain(grade)).sort((a, b) => b - a));
  return ideal === 0 ? 0 : dcg(ranking.map((id) => gain(judged.get(id)))) / ideal;
}
