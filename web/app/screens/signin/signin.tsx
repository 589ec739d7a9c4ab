/** The sign-in form: in place of the page, or in a dialog over the page when the login has ended. */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import { forgotPassword } from '../../../../api/access/contract/accounts.ts';
import { getBrowserLogin } from '../../../../api/access/contract/auth.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Text, textOf, Wrong } from '../../parts/field.tsx';
import { signedOut, signIn, user } from '../../state/session.ts';
import { said } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

export function SignIn() {
  const t = texts.value;
  if (user.value)
    return (
      // Escape closes only the dialog. The next call that needs a login opens it again.
      <Dialog key="again" title={t.signIn} closed={() => (signedOut.value = false)}>
        <p>{t.signInAgain}</p>
        <Form email={user.value.email} />
      </Dialog>
    );
  return (
    <main class="signin">
      <h1>{t.signIn}</h1>
      <Form email="" />
    </main>
  );
}

function Form({ email }: { email: string }) {
  const t = texts.value;
  const error = useSignal('');
  const sent = useSignal(false);
  const providers = useSignal<readonly string[]>([]);
  useEffect(() => {
    call(getBrowserLogin).then(
      (offer) => (providers.value = offer.providers),
      () => undefined,
    );
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    error.value = '';
    signIn(textOf(form, 'email'), textOf(form, 'password')).catch((why: unknown) => (error.value = said(why)));
  };
  const forgot = ({ currentTarget }: { currentTarget: HTMLButtonElement }) => {
    const field = currentTarget.form!.elements.namedItem('email') as HTMLInputElement;
    if (!field.reportValidity()) return;
    call(forgotPassword, { body: { email: field.value } }).then(
      () => (sent.value = true),
      (why: unknown) => (error.value = said(why)),
    );
  };
  return (
    <form class="stack" onSubmit={submit}>
      <Text name="email" label={t.email} type="email" autocomplete="username" required defaultValue={email} />
      <Wrong.Provider value={() => error.value}>
        <Text name="password" label={t.password} type="password" autocomplete="current-password" required />
      </Wrong.Provider>
      <button type="submit" class="main">
        {t.signIn}
      </button>
      {/* From the dialog over a page, an identity provider opens in a new tab, so the page keeps what was typed. */}
      {providers.value.map((provider) => (
        <a
          key={provider}
          class="button"
          href={`/v1/auth/oidc/${encodeURIComponent(provider)}/start?page=app`}
          target={user.value ? '_blank' : undefined}
        >
          {t.signInWith(provider)}
        </a>
      ))}
      <button type="button" class="plain" onClick={forgot}>
        {t.forgot}
      </button>
      {sent.value && <p role="status">{t.forgotSent}</p>}
    </form>
  );
}
