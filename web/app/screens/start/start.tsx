/** The first steps of an organization: which are done, with a link to where each one is done. */
import { call } from '../../api/call.ts';
import { getSupportConfig } from '../../../../api/integrations/contract/supportconfig.ts';
import { listDocuments } from '../../../../api/knowledge/contract/documents.ts';
import { listInbox } from '../../../../api/chat/contract/inbox.ts';
import { listMembers } from '../../../../api/access/contract/orgs.ts';
import { listPages } from '../../../../api/crawl/contract/crawl.ts';
import { seeGoLive } from '../../../../api/chat/contract/golive.ts';
import { Link, type To } from '../frame/link.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { kept } from '../../state/once.ts';
import { here, orgId } from '../../state/session.ts';
import { texts } from '../../texts/texts.ts';

const steps: Record<string, To> = {
  upload: { screen: 'knowledge', id: 'documents' },
  ask: { screen: 'knowledge', id: 'ask' },
  embed: { screen: 'settings', id: 'chat' },
  invite: { screen: 'settings', id: 'members' },
  live: { screen: 'settings', id: 'live' },
};

export default function Start() {
  const t = texts.value.start;
  const { data, error } = useLoaded(async () => {
    const { params, query } = here();
    const few = { params, query: { ...query, limit: 1 } };
    const [documents, pages, inbox, config, { count }, { environment }] = await Promise.all([
      call(listDocuments, few),
      call(listPages, few),
      call(listInbox, few),
      call(getSupportConfig, { params, query }),
      call(listMembers, { params }),
      call(seeGoLive, { params }),
    ]);
    const done: Record<string, boolean> = {
      upload: documents.count + pages.count > 0,
      ask: kept.get(`asked:${orgId.value}`) !== undefined || inbox.count > 0,
      embed: config.allowed_origins.length > 0,
      invite: count > 1,
      live: environment === 'production',
    };
    return done;
  });
  return (
    <main class="page">
      <h1>{texts.value.screens['start']}</h1>
      <p>{t.lead}</p>
      {error && <p class="error">{error}</p>}
      <ol class="cards">
        {Object.entries(steps).map(([step, to]) => (
          <li key={step} class={data?.[step] ? 'used' : ''}>
            <h2>
              <Link to={to}>{t.steps[step]}</Link> {data?.[step] && <span class="mark">{t.done}</span>}
            </h2>
            <p>{t.says[step]}</p>
          </li>
        ))}
      </ol>
    </main>
  );
}
