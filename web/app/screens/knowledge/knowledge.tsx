/** What the agent answers from. Its tabs: documents, pages, questions without an answer, and asking a question. */
import { ArticleEditor } from './article.tsx';
import { Ask } from './ask.tsx';
import { Documents } from './documents.tsx';
import { Gaps } from './gaps.tsx';
import { Pages } from './pages.tsx';
import { Tabbed } from '../frame/tabbed.tsx';
import { useKeys } from '../../parts/keys.ts';
import { address, go } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

const tabs = { documents: Documents, pages: Pages, gaps: Gaps, ask: Ask };

export default function Knowledge() {
  const { id, part, filters } = address.value;
  useKeys({ c: () => go({ screen: 'knowledge', id: 'article', part: 'new' }) });
  return (
    <Tabbed screen="knowledge" tabs={tabs} names={texts.value.knowledge.tabs}>
      {id === 'article' ? (
        <ArticleEditor key={`${part} ${filters['question'] ?? ''}`} docId={part === 'new' ? '' : part} />
      ) : null}
    </Tabbed>
  );
}
