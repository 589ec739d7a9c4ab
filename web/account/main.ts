/**
 * The page behind links in mails: setting a new password, confirming a new address, accepting an invitation,
 * unsubscribing. The token is in the URL's fragment, so no server sees it. The page removes it from the URL at once and
 * sends it only in request bodies.
 */
import { make } from '../live/elements.ts';

type Reply = { ok: boolean; data: Record<string, unknown>; error: string };
type Field = { name: string; label: string; type: string; autocomplete: string; value?: string; minlength?: number };

const main = document.querySelector('main')!;
const [purpose = '', token = ''] = location.hash.slice(1).split('=');
history.replaceState(null, '', location.pathname);

const newPassword: Field = {
  name: 'password',
  label: 'New password, at least 12 characters',
  type: 'password',
  autocomplete: 'new-password',
  minlength: 12,
};
const password: Field = { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' };
const address = (value?: string): Field => ({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'username',
  ...(value === undefined ? {} : { value }),
});

const post = (path: string, body: object, login?: string): Promise<Reply> =>
  send(path, JSON.stringify(body), {
    'content-type': 'application/json',
    ...(login ? { authorization: `Bearer ${login}` } : {}),
  });

async function send(path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Reply> {
  try {
    const response = await fetch(`/v1${path}`, { method: 'POST', headers, body });
    const read = (await response.json()) as { data?: Record<string, unknown>; error?: string };
    return { ok: response.ok, data: read.data ?? {}, error: read.error ?? `The server answered ${response.status}.` };
  } catch {
    return { ok: false, data: {}, error: 'The server could not be reached. Try again.' };
  }
}

/** Logs in for the next request only; the login is not stored. */
async function asMember(given: Record<string, string>, path: string): Promise<Reply> {
  const login = await post('/auth/login', { email: given['email'], password: given['password'] });
  return login.ok ? post(path, { token }, String(login.data['token'])) : login;
}

/** A form that is shown until `send` succeeds; then the page shows `done`. */
function form(
  button: string,
  fields: readonly Field[],
  send: (given: Record<string, string>) => Promise<Reply>,
  done: string,
): HTMLFormElement {
  const alert = make('p', { role: 'alert' });
  const submit = make('button', { type: 'submit' }, button);
  const inputs = fields.map(({ label, value, ...rest }) =>
    make(
      'label',
      {},
      make('span', {}, label),
      make('input', { ...rest, required: true, readonly: value !== undefined, ...(value ? { value } : {}) }),
    ),
  );
  const element = make('form', {}, ...inputs, alert, submit);
  const submitted = async (): Promise<void> => {
    submit.disabled = true;
    alert.textContent = '';
    const given = Object.fromEntries([...element.querySelectorAll('input')].map(({ name, value }) => [name, value]));
    const { ok, error } = await send(given);
    submit.disabled = false;
    if (ok) say(done);
    else alert.textContent = error;
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitted();
  });
  return element;
}

function show(title: string, ...children: (Node | string)[]): void {
  document.title = title;
  main.replaceChildren(make('h1', { tabindex: '-1' }, title), ...children);
}

function say(sentence: string): void {
  show(document.title, make('p', { role: 'status' }, sentence));
  main.querySelector('h1')!.focus();
}

async function invited(): Promise<void> {
  const { ok, data, error } = await post('/auth/invitations/see', { token });
  show('Invitation');
  if (!ok) return say(error);
  const { org_name: org, invited_by_name: inviter, role } = data;
  const email = String(data['email']);
  const done = `You belong to ${String(org)} now.`;
  main.append(
    make('p', {}, `${String(inviter)} invites you to ${String(org)} (role: ${String(role)}).`),
    make('h2', {}, 'With an account of this address'),
    form('Log in and join', [address(email), password], (given) => asMember(given, '/auth/invitations/accept'), done),
    make('h2', {}, 'Without an account'),
    form(
      'Create an account and join',
      [address(email), { name: 'name', label: 'Name', type: 'text', autocomplete: 'name' }, newPassword],
      ({ name, password: chosen }) => post('/auth/invitations/register', { token, name, password: chosen }),
      done,
    ),
  );
}

if (purpose === 'password_reset') {
  show(
    'Set a new password',
    form(
      'Set the password',
      [newPassword],
      ({ password: chosen }) => post('/auth/password/reset', { token, password: chosen }),
      'The new password is set, and every login of your account has ended. Log in with it.',
    ),
  );
} else if (purpose === 'email_change') {
  show(
    'Confirm your e-mail address',
    make('p', {}, 'Log in to your account, with the address that it had so far.'),
    form(
      'Confirm',
      [address(), password],
      (given) => asMember(given, '/auth/email/confirm'),
      'This is the address of your account now.',
    ),
  );
} else if (purpose === 'invitation') {
  void invited();
} else if (purpose === 'mail_stop') {
  const stop = (scope: string) => () => send(`/mail/objections/${token}`, new URLSearchParams({ scope }));
  show(
    'No more mails',
    make('p', {}, 'Somebody wrote to you through this system without you having asked for it.'),
    form('Stop mails of that organization', [], stop('organization'), 'That organization can mail you no more.'),
    // A link that an organization's own mail server sent stops only that organization, and its token has no `.all`.
    ...(token.endsWith('.all')
      ? [form('Stop mails of everybody here', [], stop('all'), 'Nobody here can mail you unasked any more.')]
      : []),
  );
} else {
  show('Your account', make('p', {}, 'Open the link of a mail to come here.'));
}
