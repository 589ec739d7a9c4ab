/**
 * Finds the minimum scores at which a message counts as a request for a tool. It uses messages to organizations with
 * tools (`tools/dev.json`): each names the intended tool, `?tool` when a question must be asked first, or null for
 * none. The organizations of test/fixtures/tools.json are not used, because test/mcp/choosing.test.ts evaluates the
 * result on them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Embedder } from '../../clients/embedding/embedder.ts';
import { bestTool, type OfferedTool } from '../../intelligence/offline/mcp/choice.ts';
import { cosine, describedAs, wordFit, type Bounds } from '../../intelligence/offline/mcp/fit.ts';

export type ToolSet = Record<string, { tools: OfferedTool[]; messages: [string, string | null][] }>;
/** The value of each outcome: an unwanted call may do harm, an unwanted question is only a nuisance. */
const worth = { right: 1, asksFirst: 0.3, nothing: 0, asksWrongly: -0.7, wrong: -3 } as const;
type Verdict = keyof typeof worth;
type Sample = { set: string; tools: OfferedTool[]; message: string; meant: string[]; fits: number[] };

/** Compares a choice with the intended tool. */
function verdictOf({ tools, message, meant, fits }: Omit<Sample, 'set'>, bounds: Bounds): Verdict {
  const best = bestTool({ told: message, email: undefined }, tools, { fits, bounds });
  if (!best) return meant.length === 0 ? 'right' : 'nothing';
  const asks = best.given.missing.length > 0;
  if (meant.includes(`${asks ? '?' : ''}${best.tool.tool_name}`)) return 'right';
  if (!asks) return 'wrong';
  return meant.includes(best.tool.tool_name) ? 'asksFirst' : 'asksWrongly';
}

export const meantBy = (expected: string | null): string[] => expected?.split('|') ?? [];

async function samplesOf(sets: ToolSet, fitsOf: (message: string, told: string[]) => Promise<number[]>) {
  const samples: Sample[] = [];
  for (const [set, { tools, messages }] of Object.entries(sets))
    for (const [message, expected] of messages) {
      const fits = await fitsOf(message, tools.map(describedAs));
      samples.push({ set, tools, message, meant: meantBy(expected), fits });
    }
  return samples;
}

const range = (from: number, to: number, by: number): number[] =>
  Array.from({ length: Math.round((to - from) / by) + 1 }, (_, at) => Math.round((from + at * by) * 1000) / 1000);

/**
 * The bounds with the highest value. Among bounds of equal value, these are in the middle, which has the widest margin.
 */
function bestBounds(samples: readonly Sample[]): Bounds {
  let most = -Infinity;
  let best: Bounds[] = [];
  for (const withArguments of range(0.1, 0.7, 0.02))
    for (const alone of range(0.2, 0.9, 0.02))
      for (const step of [0, 0.03, 0.06, 0.1]) {
        const bounds = { withArguments, alone, step };
        const value = samples.reduce((sum, sample) => sum + worth[verdictOf(sample, bounds)], 0);
        if (value > most + 1e-9) [most, best] = [value, [bounds]];
        else if (value > most - 1e-9) best.push(bounds);
      }
  const middle = (pick: (bounds: Bounds) => number): number => {
    const values = best.map(pick).toSorted((a, b) => a - b);
    return values[Math.floor(values.length / 2)]!;
  };
  const wanted = {
    withArguments: middle((one) => one.withArguments),
    alone: middle((one) => one.alone),
    step: middle((one) => one.step),
  };
  const distance = (one: Bounds): number =>
    Math.abs(one.withArguments - wanted.withArguments) +
    Math.abs(one.alone - wanted.alone) +
    Math.abs(one.step - wanted.step);
  return best.toSorted((a, b) => distance(a) - distance(b))[0]!;
}

function counts(samples: readonly Sample[], boundsOf: (sample: Sample) => Bounds): string {
  const found = new Map<string, number>();
  for (const sample of samples) {
    const kind = sample.meant.length === 0 ? 'none meant' : 'one meant';
    const verdict = `${kind}: ${verdictOf(sample, boundsOf(sample))}`;
    found.set(verdict, (found.get(verdict) ?? 0) + 1);
  }
  return [...found]
    .toSorted()
    .map(([verdict, count]) => `${verdict} ${count}`)
    .join('; ');
}

/** Computes the bounds, prints their value on an organization that was left out, and writes the file. */
export async function calibrateTools(embed: (texts: readonly string[]) => Promise<Float32Array[]>): Promise<void> {
  const sets = JSON.parse(await readFile(new URL('tools/dev.json', import.meta.url), 'utf8')) as ToolSet;
  const ways = {
    words: async (message: string, told: string[]) => told.map((text) => wordFit(message, text)),
    async meaning(message: string, told: string[]) {
      const [asked, ...described] = await embed([message, ...told]);
      return described.map((vector) => cosine(asked!, vector));
    },
  };
  const made: Record<string, Bounds> = {};
  for (const [way, fitsOf] of Object.entries(ways)) {
    const samples = await samplesOf(sets, fitsOf);
    const heldOut = new Map(
      Object.keys(sets).map((set) => [set, bestBounds(samples.filter((one) => one.set !== set))]),
    );
    made[way] = bestBounds(samples);
    console.log(`tools, by ${way}: ${JSON.stringify(made[way])}`);
    console.log(`  all: ${counts(samples, () => made[way]!)}`);
    console.log(`  each organization from the others alone: ${counts(samples, ({ set }) => heldOut.get(set)!)}`);
  }
  const path = 'intelligence/offline/mcp/fitting.json';
  await writeFile(path, `${JSON.stringify(made, null, 2)}\n`);
  console.log(`${path} is written.`);
}

/** Computes the vectors with which the agent compares messages and tool descriptions. */
export const sentencesBy =
  (embedder: Embedder) =>
  async (texts: readonly string[]): Promise<Float32Array[]> =>
    embedder.embed(
      texts.map((text) => ({ kind: 'passage', text })),
      { models: ['use'], patient: true },
    );
