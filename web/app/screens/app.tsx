/** The frame of the page: the rail with the screens, and the screen that is open. Screens load when they are opened. */
import type { ComponentType } from 'preact';
import { signal } from '@preact/signals';
import { Palette } from './frame/palette.tsx';
import { Rail } from './frame/rail.tsx';
import { Toasts } from './frame/toasts.tsx';
import { SignIn } from './signin/signin.tsx';
import { InboxScreen } from './inbox/inbox.tsx';
import { link } from '../state/live.ts';
import { address } from '../state/route.ts';
import { loginError, mode, org, orgId, signedOut, user } from '../state/session.ts';
import { attempt } from '../state/toast.ts';
import type { Screen } from '../rules/address.ts';
import { texts } from '../texts/texts.ts';

const loads: Record<Exclude<Screen, 'inbox'>, () => Promise<{ default: ComponentType }>> = {
  knowledge: () => import('./knowledge/knowledge.tsx'),
  tools: () => import('./tools/tools.tsx'),
  deliveries: () => import('./deliveries/deliveries.tsx'),
  settings: () => import('./settings/settings.tsx'),
  start: () => import('./start/start.tsx'),
};
const loaded = signal<Partial<Record<Screen, ComponentType>>>({ inbox: InboxScreen });

export function App() {
  if (user.value === undefined)
    return (
      <p class="empty" role="status">
        {loginError.value || texts.value.loading}
      </p>
    );
  if (user.value === null)
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    );
  if (!org.value) return <p class="empty">{texts.value.noOrganization}</p>;
  return (
    <>
      <Rail />
      {(link.value === 'lost' || link.value === 'refused') && (
        <p class="band" role="status">
          {texts.value.lost}
        </p>
      )}
      <Open screen={address.value.screen} />
      <Toasts />
      <Palette />
      {signedOut.value && <SignIn />}
    </>
  );
}

function Open({ screen }: { screen: Screen }) {
  const Found = loaded.value[screen];
  // The state of a screen, such as a new key or an answer, belongs to one organization and mode. So a change of either
  // creates the screen anew. The inbox keeps its state outside of its screen.
  if (Found) return <Found key={screen === 'inbox' ? screen : `${screen} ${orgId.value} ${mode.value}`} />;
  if (screen !== 'inbox')
    void attempt(async () => {
      const { default: screenOf } = await loads[screen]();
      loaded.value = { ...loaded.value, [screen]: screenOf };
    });
  return <main class="empty">{texts.value.loading}</main>;
}
