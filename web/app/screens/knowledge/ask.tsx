/** Asks a question as a customer would, and shows the answer beside the passages that were judged for it. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { queryKnowledge } from '../../../../api/knowledge/contract/knowledge.ts';
import { Candidates, type Asked } from './candidates.tsx';
import { Form } from '../frame/form.tsx';
import { Text, textOf } from '../../parts/field.tsx';
import { kept } from '../../state/once.ts';
import { here, orgId } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

export function Ask() {
  const t = texts.value.knowledge;
  const asked = useSignal<Asked | undefined>(undefined);
  const send = async (form: HTMLFormElement) => {
    const segment = textOf(form, 'segment').trim();
    const body = { query: textOf(form, 'query'), explain: true, ...(segment ? { segments: [segment] } : {}) };
    asked.value = await call(queryKnowledge, { ...here(), body });
    kept.set(`asked:${orgId.value}`, 'yes');
  };
  const { answer, has_context, confidence, sources = [], offers = [], explain } = asked.value ?? {};
  return (
    <>
      <Form send={send} action={t.ask}>
        <Text name="query" label={t.question} required />
        <Text name="segment" of="segments" label={t.segment} />
      </Form>
      {asked.value && (
        <section class="beside" aria-live="polite">
          <div>
            <h2>{t.answer}</h2>
            {!has_context && <p class="mark">{t.noAnswer}</p>}
            <p class="said">{answer}</p>
            {confidence && <p>{texts.value.confidences[confidence]}</p>}
            {sources.length > 0 && (
              <p class="sources">
                {texts.value.sources}: {sources.map(({ name }) => name).join(', ')}
              </p>
            )}
            {offers.length > 0 && <h3>{t.offers}</h3>}
            <ul>
              {offers.map(({ heading, says }) => (
                <li key={heading}>
                  <strong>{heading}</strong> {says}
                </li>
              ))}
            </ul>
          </div>
          {explain && <Candidates explain={explain} />}
        </section>
      )}
    </>
  );
}
