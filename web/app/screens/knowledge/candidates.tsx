/** The passages that were judged for a question, the best first. */
import type { ReplyOf } from '../../api/call.ts';
import type { queryKnowledge } from '../../../../api/knowledge/contract/knowledge.ts';
import { texts } from '../../texts/texts.ts';

export type Asked = ReplyOf<typeof queryKnowledge>;

const rounded = (score: number): number => Math.round(score * 1000) / 1000;

export function Candidates({ explain }: { explain: NonNullable<Asked['explain']> }) {
  const t = texts.value.knowledge;
  const { candidates, degraded, thresholds, searched, model_error } = explain;
  return (
    <div>
      <h2>{t.candidates}</h2>
      <p>
        {texts.value.searchedFor}: {searched}.{' '}
        {thresholds && t.thresholds(rounded(thresholds.answer), rounded(thresholds.offer))}
      </p>
      {degraded && <p class="mark">{t.degraded}</p>}
      {model_error && <p class="error">{model_error}</p>}
      <ol class="cards">
        {candidates.map(({ chunk_id, name, heading, text, score, relevant }) => (
          <li key={chunk_id} class={relevant ? 'used' : 'quiet'}>
            <strong>{[name, heading].filter(Boolean).join(', ')}</strong> {rounded(score)}{' '}
            {relevant && <span class="mark">{t.relevant}</span>}
            <p class="said">{text}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}
