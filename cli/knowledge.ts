/** The command `ask`: shows the knowledge base's answer to a question. */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { Act } from './session.ts';
import { table, wrap, type Output } from './output.ts';
import { queryReply } from '../api/knowledge/contract/knowledge.ts';

export type Answer = z.infer<typeof queryReply>;

export function addAskCommand(program: Command, act: Act): void {
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
