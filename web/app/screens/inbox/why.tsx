/**
 * Explains an answer of the agent: what the agent searched for, the passages that it judged, and what wrote the answer.
 */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { queryKnowledge } from '../../../../api/knowledge/contract/knowledge.ts';
import type { InboxMessage } from '../../../../api/chat/contract/inbox.ts';
import { here } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

/** The fields of an answer's record (docs/agent.md) that are shown; older records may lack some. */
type Recorded = {
  searched?: string | null;
  retrieved?: { source_id: string; chunk_id: string; name: string; score: number; relevant: boolean; used: boolean }[];
  confidence?: string | null;
  generated_by?: string;
  model?: string;
  model_error?: string;
  dropped?: string[];
  tools?: { tool: string; outcome: string }[];
};

export function Why({ message: { body, record, offers = [] } }: { message: InboxMessage }) {
  const t = texts.value;
  const {
    searched,
    retrieved = [],
    confidence,
    generated_by,
    model,
    model_error,
    dropped = [],
    tools = [],
  } = record as Recorded;
  /** The current texts of the passages, by their id, because the record holds no texts. */
  const read = useSignal<ReadonlyMap<string, string> | undefined>(undefined);
  useEffect(() => {
    if (searched && retrieved.length > 0)
      void attempt(async () => {
        const { explain } = await call(queryKnowledge, { ...here(), body: { query: searched, explain: true } });
        read.value = new Map(explain?.candidates.map(({ chunk_id, text }) => [chunk_id, text]));
      });
  }, []);
  return (
    <section class="why" aria-label={t.whyTitle}>
      <dl>
        <dt>{t.searchedFor}</dt>
        <dd>{searched ?? t.nothingSearched}</dd>
        <dt>{t.confidence}</dt>
        <dd>{confidence ? t.confidences[confidence] : t.none}</dd>
        <dt>{t.generatedBy}</dt>
        <dd>
          {t.writers[generated_by ?? ''] ?? generated_by} {model}
          {model_error && <strong class="error"> {model_error}</strong>}
        </dd>
        {tools.length > 0 && <dt>{t.toolsCalled}</dt>}
        {tools.map(({ tool, outcome }) => (
          <dd key={tool}>
            {tool}: {outcome}
          </dd>
        ))}
        {offers.length > 0 && <dt>{t.offered}</dt>}
        {offers.map(({ heading }) => (
          <dd key={heading}>{heading}</dd>
        ))}
        {dropped.length > 0 && <dt>{t.dropped}</dt>}
        {dropped.map((sentence) => (
          <dd key={sentence}>
            <s>{sentence}</s>
          </dd>
        ))}
      </dl>
      {retrieved.length > 0 && (
        <div class="beside">
          <blockquote class="said">{body}</blockquote>
          <ol aria-label={t.passages}>
            {retrieved.map(({ chunk_id, name, score, relevant, used }) => (
              <li key={chunk_id} class={used ? 'used' : relevant ? '' : 'quiet'}>
                <strong>{name}</strong> <span class="score">{score}</span>{' '}
                {used && <span class="mark">{t.passageShown}</span>}
                <p class="said">{read.value ? (read.value.get(chunk_id) ?? t.passageGone) : t.loading}</p>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}
