/** The rail: the screens, the organization and its mode, and the member's notifications. */
import { useSignal } from '@preact/signals';
import { Link } from './link.tsx';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { screens } from '../../rules/address.ts';
import { waiting } from '../../state/inbox.ts';
import { follow, notices, unread } from '../../state/notices.ts';
import { address } from '../../state/route.ts';
import { choose, chooseMode, mode, org, organizations, signOut, user } from '../../state/session.ts';
import { moment } from '../../rules/times.ts';
import { locale, texts } from '../../texts/texts.ts';

export function Rail() {
  const t = texts.value;
  const told = useSignal(false);
  const mine = useSignal(false);
  return (
    <nav class="rail" aria-label={t.title}>
      <ul>
        {screens.map((screen) => (
          <li key={screen}>
            <Link to={{ screen }} aria-current={address.value.screen === screen ? 'page' : undefined}>
              {t.screens[screen]}
              {screen === 'inbox' && waiting.value > 0 && <span class="count">{waiting.value}</span>}
            </Link>
          </li>
        ))}
      </ul>
      <div class="self">
        <button type="button" onClick={() => (told.value = true)}>
          {t.notices}
          {unread.value > 0 && <span class="count">{unread.value}</span>}
        </button>
        <button type="button" onClick={() => (mine.value = true)}>
          {user.value!.name}
          {mode.value === 'test' && <span class="mark">{t.test}</span>}
        </button>
      </div>
      {told.value && <Told closed={() => (told.value = false)} />}
      {mine.value && <Mine closed={() => (mine.value = false)} />}
    </nav>
  );
}

function Told({ closed }: { closed: () => void }) {
  const t = texts.value;
  return (
    <Dialog title={t.notices} closed={closed}>
      {notices.value.length === 0 && <p>{t.noNotices}</p>}
      <ul class="told">
        {notices.value.map((one) => (
          <li key={one.notif_id}>
            <button
              type="button"
              class={one.read ? 'read' : ''}
              onClick={() => {
                closed();
                void follow(one);
              }}
            >
              <strong>{one.title}</strong>
              <span>{one.body}</span>
              <small>{moment(one.created_at, new Date(), locale.value)}</small>
            </button>
          </li>
        ))}
      </ul>
      <form method="dialog">
        <button type="submit">{t.close}</button>
      </form>
    </Dialog>
  );
}

function Mine({ closed }: { closed: () => void }) {
  const t = texts.value;
  return (
    <Dialog title={user.value!.name} closed={closed}>
      <Select
        name="organization"
        label={t.organization}
        names={Object.fromEntries(organizations.value.map(({ org_id, name }) => [org_id, name]))}
        chosen={org.value?.org_id}
        change={choose}
      />
      <Select
        name="mode"
        label={t.mode}
        names={{ test: t.test, live: t.live }}
        chosen={mode.value}
        change={(to) => chooseMode(to as 'test')}
      />
      <form method="dialog">
        <Act name={t.signOut} act={signOut} />
        <button type="submit">{t.close}</button>
      </form>
    </Dialog>
  );
}
