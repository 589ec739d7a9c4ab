/**
 * Verifies webhooks of Linear and finds the organization they belong to. A request is signed with the deployment's
 * secret, or with one that an organization gave when it connected. Before verification the body is read only for the
 * ids that lead to the secrets to try.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { linearExternal, linearVerb } from './rules.ts';
import type { Arrival, OwnedBy, Owner } from '../base/arrival.ts';
import { isHmac, isSignedBy, member, sha256, textMember, unsigned, type SignedRequest } from '../base/signing.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { findOwner, listOwn, listSigning, type Integration } from '../../models/integrations/integration.ts';
import { findLink } from '../../models/events/link.ts';
import { jsonIn } from '../../models/rules/base/json.ts';
import { withinWindow } from '../../models/rules/events/inbound.ts';

/** `id`: `deployment`, or the organization whose own secret made the signature. */
export type LinearSender = {
  id: string;
  own?: string;
  event: unknown;
  /** The id of Linear's delivery, which the signature does not cover. */
  delivery?: string;
};

/**
 * Besides the secrets that the ids in the body lead to, at most this many other secrets are tried. They are not tried
 * for a body over `maxBytesForOthers`, because each secret requires hashing the whole body again.
 */
const otherSecrets = 50;
const maxBytesForOthers = 64 * 1024;

/** `secret`: the deployment's secret. `others`: reads connections that have their own secret. */
export type LinearSecrets = { secret: string | undefined; secrets: SecretBox; others(): Promise<Integration[]> };

export const listOthers = (): Promise<Integration[]> => listSigning('linear', otherSecrets);

/** @throws Problem UNAUTHENTICATED when no known secret made the signature */
export async function verifyLinear({ headers, body, now }: SignedRequest, known: LinearSecrets): Promise<LinearSender> {
  const given = signatureIn(headers);
  const event = jsonIn(body);
  const signer = await signerOf(known, given, body, event);
  const at = member(event, 'webhookTimestamp');
  if (typeof at !== 'number' || !withinWindow(at, now))
    throw unsigned('webhookTimestamp in the body is missing, or more than 5 minutes from now.');
  const delivery = headers['linear-delivery'];
  return { ...signer, event, ...(typeof delivery === 'string' ? { delivery } : {}) };
}

/**
 * The signature from Linear's own header (`linear-signature`) or from the one in this system's specification
 * (`x-linear-signature`). When both are present, they must be equal.
 */
function signatureIn(headers: IncomingHttpHeaders): string {
  const named = [headers['linear-signature'], headers['x-linear-signature']].filter((value) => value !== undefined);
  const [given] = named;
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given))
    throw unsigned('linear-signature must be the HMAC-SHA256 of the body, in lower-case hexadecimal.');
  if (named.some((value) => value !== given))
    throw unsigned('linear-signature and x-linear-signature are different signatures.');
  return given;
}

async function signerOf(
  { secret, secrets, others }: LinearSecrets,
  given: string,
  body: Buffer,
  event: unknown,
): Promise<Pick<LinearSender, 'id' | 'own'>> {
  if (secret !== undefined && isHmac(given, secret, [body])) return { id: 'deployment' };
  const team = teamOf(event);
  const named = await listOwn('linear', {
    workspace: textMember(event, 'organizationId'),
    events_of: team === undefined ? undefined : linearExternal(team),
  });
  const signed = (own: Integration): boolean => isSignedBy(own, given, body, secrets);
  const found = named.find(signed) ?? (body.length > maxBytesForOthers ? undefined : (await others()).find(signed));
  if (!found) throw unsigned('This signature is not made with the secret of a connected workspace.');
  return { id: found.org_id, own: found.org_id };
}

const dataOf = (event: unknown): unknown => member(event, 'data');
const teamOf = (event: unknown): string | undefined =>
  textMember(dataOf(event), 'teamId') ?? textMember(member(dataOf(event), 'team'), 'id');

/** The verified request in the form in which it is stored, with the organization it belongs to. */
export async function linearArrival(
  { id: sender, own, event, delivery }: LinearSender,
  body: Buffer,
  ownedBy: OwnedBy,
): Promise<Arrival> {
  const issue = textMember(dataOf(event), 'id');
  const type = `${textMember(event, 'type') ?? 'unknown'}.${linearVerb(textMember(event, 'action'))}`;
  return {
    provider: 'linear',
    sender,
    // The delivery id comes from a header that is not signed. A request replayed under another id is recognized by the
    // hash of its body.
    keys: [...(delivery === undefined ? [] : [delivery.slice(0, 200)]), sha256(body)],
    owner: await ownerOf(ownedBy, own, event, issue),
    lane: `linear:${issue ?? 'workspace'}`,
    type,
    body: body.toString('utf8'),
  };
}

/**
 * A request signed with an organization's own secret belongs to that organization. A request signed with the
 * deployment's secret belongs to the organization that created the issue, otherwise to the one that connected the team.
 */
async function ownerOf(
  ownedBy: OwnedBy,
  own: string | undefined,
  event: unknown,
  issue: string | undefined,
): Promise<Owner> {
  if (own !== undefined) return ownedBy(own);
  const team = teamOf(event);
  const [link, owner] = await Promise.all([
    issue === undefined ? null : findLink('linear', issue),
    team === undefined ? null : findOwner('linear', linearExternal(team)),
  ]);
  const orgId = link?.org_id ?? owner?.org_id;
  return orgId === undefined ? { unknown: 'No connected organization has this issue or this team.' } : ownedBy(orgId);
}
