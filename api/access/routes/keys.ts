/** Routes of developer keys. Only members, not keys, create and manage keys. A key may read its own record. */
import { member, self } from '../auth.ts';
import * as contract from '../contract/keys.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { newId } from '../../../models/base/ids.ts';
import {
  createKey,
  findKey,
  hashToken,
  listKeys,
  newToken,
  replaceKey,
  revokeKey,
  updateKey,
  type Key,
} from '../../../models/access/key.ts';
import { roleOf } from '../../../models/access/organization.ts';
import { providePublishableKey, rotatePublishableKey } from '../../../models/access/publishablekey.ts';
import { invalid, noSuch, Problem, sought } from '../../../models/rules/base/errors.ts';
import {
  defaultMode,
  defaultScopes,
  keyEnvironment,
  keyStatus,
  rotationEnd,
  tokenStart,
  type Environment,
} from '../../../models/rules/access/keys.ts';
import { defined } from '../../../models/rules/base/defined.ts';

function view(key: Key, environment: Environment, now: Date) {
  return {
    ...key,
    key_id: key._id,
    mode: key.mode === 'legacy' ? null : key.mode,
    environment: keyEnvironment(key.mode, environment),
    status: keyStatus(key, now),
  };
}

/** A new key and its token; nothing is stored yet. */
function mint(
  fields: Pick<Key, 'org_id' | 'name' | 'scopes' | 'mode' | 'created_by_user_id' | 'expires_at'>,
  now: Date,
): { key: Key; token: string } {
  const token = newToken('secret', fields.mode);
  const key = {
    ...fields,
    _id: newId('key'),
    token_hash: hashToken(token),
    token_prefix: tokenStart(token),
    created_at: now,
    updated_at: now,
  };
  return { key, token };
}

/**
 * Removing a member revokes their keys. A concurrent request may store one more key after that; this check revokes it.
 * @throws Problem NOT_FOUND
 */
async function checkStillMember({ _id, org_id }: Key, userId: string, now: Date): Promise<void> {
  if ((await roleOf(org_id, userId)) !== undefined) return;
  await revokeKey(org_id, _id, now);
  throw noSuch('organization');
}

/** The request's `expires_at` as a date. @throws Problem VALIDATION when it is in the past. */
function readExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const moment = new Date(text);
  if (moment > now) return moment;
  throw invalid(['body', 'expires_at'], 'must be in the future');
}

export const keyRoutes = [
  route(contract.listPublishableKeys, {
    summary: 'The publishable keys of both modes, in full; made on the first read.',
    auth: member(),
    async handle({ principal }, ctx) {
      const [test, live] = await Promise.all(
        (['test', 'live'] as const).map((mode) => providePublishableKey(principal.orgId, mode, ctx.clock())),
      );
      return { test: test!, live: live! };
    },
  }),
  route(contract.rotatePublishableKey, {
    summary: "Replace a mode's publishable key. The old one stops working: pages that embed it need the new one.",
    auth: member(),
    async handle({ params, principal }, ctx) {
      return rotatePublishableKey(principal.orgId, params.mode, ctx.clock());
    },
  }),
  route(contract.listKeys, {
    summary: 'All keys, newest first, also revoked ones.',
    auth: member(),
    async handle({ query, principal }, ctx) {
      const { entries, cursor } = await paged(query, (limit, after) => listKeys(principal.orgId, limit, after));
      return { keys: entries.map((key) => view(key, principal.org.environment, ctx.clock())), cursor };
    },
  }),
  route(contract.createKey, {
    summary: 'Create a key. Its token is shown this once.',
    auth: member(),
    status: 201,
    async handle({ body, principal }, ctx) {
      const now = ctx.clock();
      const { key, token } = mint(
        {
          org_id: principal.orgId,
          name: body.name,
          scopes: [...new Set(body.scopes ?? defaultScopes)],
          mode: body.mode ?? defaultMode,
          created_by_user_id: principal.userId,
          expires_at: readExpiry(body.expires_at ?? null, now),
        },
        now,
      );
      await createKey(key);
      await checkStillMember(key, principal.userId, now);
      return { key: view(key, principal.org.environment, now), token };
    },
  }),
  route(contract.updateKey, {
    summary: 'Change name, scopes or expiry. The token and the mode stay.',
    auth: member(),
    errors: ['KEY_REVOKED', 'CONFLICT'],
    async handle({ params, body, principal }, ctx) {
      const now = ctx.clock();
      const change = {
        ...defined({ name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: [...new Set(body.scopes)] }),
        ...(body.expires_at === undefined ? {} : { expires_at: readExpiry(body.expires_at, now) }),
      };
      const key = await updateKey(principal.orgId, params.keyId, change, now);
      if (!key) {
        const standing = await sought(findKey(principal.orgId, params.keyId), 'key');
        if (standing.revoked_at) throw new Problem('KEY_REVOKED');
        throw new Problem('CONFLICT', {
          message: 'This key was rotated, which said when it ends; change its successor.',
        });
      }
      return { key: view(key, principal.org.environment, now) };
    },
  }),
  route(contract.revokeKey, {
    summary: 'Revoke a key: within a second nothing accepts it. Repeating it changes nothing.',
    auth: member(),
    async handle({ params, principal }, ctx) {
      const now = ctx.clock();
      const revoked = await revokeKey(principal.orgId, params.keyId, now);
      const key = revoked ?? (await sought(findKey(principal.orgId, params.keyId), 'key'));
      return { key: view(key, principal.org.environment, now) };
    },
  }),
  route(contract.rotateKey, {
    summary: 'Create the successor of a key: same name, scopes, mode and expiry. The old key ends after the overlap.',
    auth: member(),
    status: 201,
    errors: ['KEY_REVOKED'],
    async handle({ params, body, principal }, ctx) {
      const now = ctx.clock();
      const old = await sought(findKey(principal.orgId, params.keyId), 'key');
      const oldEnds = rotationEnd(old, body.overlap_seconds ?? 0, now);
      const { org_id, name, scopes, mode, expires_at } = old;
      const next = mint(
        { org_id, name, scopes, mode, expires_at: expires_at ?? null, created_by_user_id: principal.userId },
        now,
      );
      if (!(await replaceKey(old, next.key, oldEnds, now)))
        throw new Problem('CONFLICT', { message: 'The key was changed meanwhile; look at it again.' });
      await checkStillMember(next.key, principal.userId, now);
      return { key: view(next.key, principal.org.environment, now), token: next.token };
    },
  }),
  route(contract.getSelf, {
    summary: 'What the calling key is.',
    auth: self,
    async handle({ principal }, ctx) {
      const { record, environment, orgId, orgName, mode } = principal;
      return {
        ...view(record, environment, ctx.clock()),
        organization: { org_id: orgId, name: orgName },
        mode,
      };
    },
  }),
];
