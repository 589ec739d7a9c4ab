/**
 * Verifies webhooks of GitHub and finds the organization they belong to. Each webhook is signed with a secret that the
 * organization gave when it connected its repository. Before verification the body is read only to find the secrets to
 * try. GitHub signs no time, so an event is always applied with the issue's current state, and a replayed event has no
 * effect.
 */
import { githubExternal, githubIssueExternal } from './rules.ts';
import type { Arrival, OwnedBy } from '../base/arrival.ts';
import { isForm, isSignedBy, member, sha256, textMember, unsigned, type SignedRequest } from '../base/signing.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { listOwn } from '../../models/integrations/integration.ts';
import { findLink } from '../../models/events/link.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

/** `id`: the organization whose secret made the signature. */
export type GithubSender = { id: string; event: unknown; name: string; delivery?: string };

const numberMember = (value: unknown, name: string): number | undefined => {
  const found = member(value, name);
  return Number.isSafeInteger(found) && (found as number) > 0 ? (found as number) : undefined;
};

/** The id that links use for the issue that the event is about. */
function issueIn(event: unknown): string | undefined {
  const repository = numberMember(member(event, 'repository'), 'id');
  const number = numberMember(member(event, 'issue'), 'number');
  return repository === undefined || number === undefined ? undefined : githubIssueExternal(String(repository), number);
}

/** @throws Problem UNAUTHENTICATED; UNSUPPORTED_MEDIA_TYPE for a form. */
export async function verifyGithub({ headers, body }: SignedRequest, secrets: SecretBox): Promise<GithubSender> {
  // Forms are GitHub's default, but they are refused: the repository, by which secrets are found, is inside a form
  // field.
  if (isForm(headers))
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Set the content type of this webhook in GitHub to application/json; a form is not read.',
    });
  const given = /^sha256=([0-9a-f]{64})$/.exec(String(headers['x-hub-signature-256']))?.[1];
  if (given === undefined)
    throw unsigned('x-hub-signature-256 must be `sha256=` and the HMAC-SHA256 of the body, in lower-case hexadecimal.');
  const event = jsonIn(body);
  const id = await signerOf(secrets, given, body, event);
  const { 'x-github-event': name, 'x-github-delivery': delivery } = headers;
  return {
    id,
    event,
    name: typeof name === 'string' ? name : 'unknown',
    ...(typeof delivery === 'string' ? { delivery } : {}),
  };
}

async function signerOf(secrets: SecretBox, given: string, body: Buffer, event: unknown): Promise<string> {
  const repository = numberMember(member(event, 'repository'), 'id');
  const issue = issueIn(event);
  const [named, link] = await Promise.all([
    repository === undefined
      ? []
      : listOwn('github', { workspace: String(repository), events_of: githubExternal(repository) }),
    issue === undefined ? null : findLink('github', issue),
  ]);
  const signed = named.filter((own) => isSignedBy(own, given, body, secrets));
  // When several organizations share a repository and a secret, the one that created the issue gets the event.
  const found = signed.find(({ org_id }) => org_id === link?.org_id) ?? signed[0];
  if (!found) throw unsigned('This signature is not made with the secret of a connected repository.');
  return found.org_id;
}

/** The verified request in the form in which it is stored, with the organization it belongs to. */
export async function githubArrival(sender: GithubSender, body: Buffer, ownedBy: OwnedBy): Promise<Arrival> {
  const { id, event, name, delivery } = sender;
  const action = textMember(event, 'action');
  return {
    provider: 'github',
    sender: id,
    // The delivery id comes from a header that is not signed. A request replayed under another id is recognized by the
    // hash of its body.
    keys: [...(delivery === undefined ? [] : [delivery.slice(0, 200)]), sha256(body)],
    owner: await ownedBy(id),
    lane: `github:${issueIn(event) ?? 'repository'}`,
    type: action === undefined ? name : `${name}.${action}`,
    body: body.toString('utf8'),
  };
}
