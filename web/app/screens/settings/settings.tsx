/** The member's own settings, and the settings of the organization. */
import { Chat } from './chat.tsx';
import { TeamHours } from './hours.tsx';
import { Integrations } from './integrations.tsx';
import { Keys } from './keys.tsx';
import { GoingLive } from './live.tsx';
import { Members } from './members.tsx';
import { Notices } from './notices.tsx';
import { Replies } from './replies.tsx';
import { TeamTags } from './tags.tsx';
import { WidgetLook } from './widget.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { address, follow } from '../../state/route.ts';
import { texts } from '../../texts/texts.ts';

const tabs = {
  notices: Notices,
  members: Members,
  replies: Replies,
  tags: TeamTags,
  hours: TeamHours,
  chat: Chat,
  widget: WidgetLook,
  integrations: Integrations,
  keys: Keys,
  live: GoingLive,
};

export default function Settings() {
  const t = texts.value;
  const { id } = address.value;
  const open = Object.hasOwn(tabs, id) ? (id as keyof typeof tabs) : 'notices';
  const Tab = tabs[open];
  return (
    <main class="page">
      <h1>{t.screens['settings']}</h1>
      <Tabs
        label={t.screens['settings']!}
        tabs={Object.entries(t.settings.tabs).map(([tab, name]) => [{ screen: 'settings', id: tab }, name])}
        current={open}
        follow={follow}
      />
      <Tab />
    </main>
  );
}
