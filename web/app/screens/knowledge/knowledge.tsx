/** What the agent answers from. Its tabs: documents, pages, questions without an answer, and asking a question. */
import { ArticleEditor } from './article.tsx';
import { Ask } from './ask.tsx';
import { Documents } from './documents.tsx';
import { Gaps } from './gaps.tsx';
import { Pages } from './pages.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { address, follow, go } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

const tabs = { documents: Documents, pages: Pages, gaps: Gaps, ask: Ask };

export default function Knowledge() {
  const t = texts.value;
  const { id, part } = address.value;
  useKeys({ c: () => go({ screen: 'knowledge', id: 'article', part: 'new' }) });
  const open = Object.hasOwn(tabs, id) ? (id as keyof typeof tabs) : 'documents';
  const Tab = tabs[open];
  return (
    <main class="page">
      <h1>{t.screens['knowledge']}</h1>
      <Tabs
        label={t.screens['knowledge']!}
        tabs={Object.entries(t.knowledge.tabs).map(([tab, name]) => [{ screen: 'knowledge', id: tab }, name])}
        current={open}
        follow={follow}
      />
      {id === 'article' ? <ArticleEditor key={part} docId={part === 'new' ? '' : part} /> : <Tab />}
    </main>
  );
}
