/** The commands `ask` and `gaps`: answers of the knowledge base, and the questions it could not answer. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { allPages } from './client.ts';
import type { Act } from './session.ts';
import { shortTime, table, wrap, type Output } from './output.ts';
import { gapList, queryReply } from '../api/knowledge/contract/knowledge.ts';

export type Answer = z.infer<typeof queryReply>;

export function addKnowledgeCommands(program: Command, act: Act): void {
  program
    .command('ask')
    .description('ask the knowledge base a question')
    .argument('<question>', 'in quotes')
    .option('--segment <segment>', 'search only sources for this segment and those for everybody; default all sources')
    .option('--explain', 'also show how the answer was found')
    .action(
      act(
        async (
          { client, orgId, mode, modeSeen, output },
          question: string,
          given: { segment?: string; explain?: boolean },
        ) => {
          const answer = await (
            await client()
          ).request('POST', `/orgs/${await orgId()}/kb/query`, queryReply, {
            query: { mode },
            body: {
              query: question,
              ...(given.segment === undefined ? {} : { context: { productType: given.segment } }),
              ...(given.explain ? { explain: true } : {}),
            },
          });
          const seen = answer.has_context ? undefined : await modeSeen('answer');
          output.result(answer, () => [...answerLines(answer, output.width), ...explainLines(answer)]);
          if (seen !== undefined) output.note(seen);
        },
      ),
    );
  program
    .command('gaps')
    .description('list questions that found no answer, the latest first')
    .addOption(
      new Option('--status <status>', 'only those with this status').choices(['open', 'acknowledged', 'resolved']),
    )
    .option('--limit <n>', 'list at most this many; all unless told', count)
    .action(
      act(async ({ client, orgId, mode, modeSeen, output }, given: { status?: string; limit?: number }) => {
        const connected = await client();
        const path = `/orgs/${await orgId()}/kb/gaps`;
        let total = 0;
        const gaps = await allPages(async (page) => {
          const query = { ...page, mode, status: given.status };
          const reply = await connected.request('GET', path, gapList, { query });
          total = reply.count;
          return { entries: reply.gaps, cursor: reply.cursor };
        }, given.limit);
        const seen = gaps.length === 0 ? await modeSeen('list') : undefined;
        output.result({ gaps, count: total }, () => gapLines(gaps));
        if (seen !== undefined) output.note(seen);
      }),
    );
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('Give a whole number of at least 1.');
  return n;
}

/** The answer, followed by its numbered sources. */
export function answerLines(answer: Answer, width: Output['width']): string[] {
  const sources = answer.sources.map(
    ({ name, url, score, type, id }, i) =>
      `  [${i + 1}] ${url ? `${name}  ${url}` : name}  (${type} ${id}, score ${score.toFixed(2)})`,
  );
  return [...wrap(answer.answer, width), ...(sources.length === 0 ? [] : ['', 'Sources', ...sources])];
}

function explainLines({ explain, generated_by }: Answer): string[] {
  if (explain === undefined) return [];
  const { filter } = explain;
  const reach =
    filter === null ? 'everything' : [...filter.tags, ...(filter.untagged ? ['what has no segment'] : [])].join(', ');
  const number = (value: number | null): string => (value === null ? '-' : value.toFixed(3));
  const rows = explain.candidates.map((c) => [
    c.relevant ? 'yes' : 'no',
    number(c.score),
    number(c.coverage),
    number(c.strength),
    number(c.text_score),
    c.cosines === null ? '-' : c.cosines.map(number).join(' '),
    c.authority,
    [c.name, c.heading].filter(Boolean).join(' / '),
  ]);
  return [
    '',
    'How it was found',
    `  searched: ${explain.searched}`,
    `  in: ${reach} (${explain.mode} mode${explain.strict ? ', strict segments' : ''})`,
    `  answered by: ${explain.tier ?? 'no'} sources, ${generated_by}${explain.degraded ? '; the embedding model did not answer, so passages were found by words alone' : ''}`,
    `  words: ${explain.terms.map(({ stem, weight }) => `${stem} ${weight.toFixed(2)}`).join(', ') || 'none'}`,
    '',
    ...(rows.length === 0
      ? ['  no passage came near']
      : table(['RELEVANT', 'SCORE', 'COVERAGE', 'STRENGTH', 'TEXT', 'MEANING', 'AUTHORITY', 'PASSAGE'], rows)),
  ];
}

function gapLines(gaps: z.infer<typeof gapList>['gaps']): string[] {
  if (gaps.length === 0) return ['Every question so far was answered.'];
  return table(
    ['ASKED', 'LAST', 'STATUS', 'WHY', 'QUESTION'],
    gaps.map((g) => [
      `${g.count} x`,
      shortTime(g.last_asked),
      g.status,
      g.why_missing.replaceAll('_', ' '),
      g.question,
    ]),
  );
}
