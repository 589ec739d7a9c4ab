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
import { Tabbed } from '../frame/tabbed.tsx';
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

const Settings = () => <Tabbed screen="settings" tabs={tabs} names={texts.value.settings.tabs} />;
export default Settings;
