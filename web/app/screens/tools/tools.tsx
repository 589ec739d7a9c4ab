/** The organization's tool server: what the agent may call, calls that wait for a member, and what was called. */
import { Approvals } from './approvals.tsx';
import { Audit } from './audit.tsx';
import { Server } from './server.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { address, follow } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

const tabs = { server: Server, approvals: Approvals, audit: Audit };

export default function Tools() {
  const t = texts.value;
  const { id } = address.value;
  const open = Object.hasOwn(tabs, id) ? (id as keyof typeof tabs) : 'server';
  const Tab = tabs[open];
  return (
    <main class="page">
      <h1>{t.screens['tools']}</h1>
      <Tabs
        label={t.screens['tools']!}
        tabs={Object.entries(t.tools.tabs).map(([tab, name]) => [{ screen: 'tools', id: tab }, name])}
        current={open}
        follow={follow}
      />
      <Tab />
    </main>
  );
}
