/**
 * Authenticates and authorizes a request: turns its bearer credential or signature into a principal, and checks the
 * route's guard against the principal. A resource that the caller must not know about gives 404; a known caller without
 * the needed scope or role gets 403.
 */
import { LRUCache } from 'lru-cache';
import type { Guard, Principal, SelfPrincipal, UserPrincipal } from './auth.ts';
import type { SignedRequest } from '../../providers/base/signing.ts';
import type { Context } from '../context.ts';
import { readSession } from './sessions.ts';
import { cached } from '../../models/base/cached.ts';
import { findKeyByToken, hashToken, touchKey, wellFormed } from '../../models/access/key.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { invalid, noSuch, Problem } from '../../models/rules/base/errors.ts';
import { effectiveMode, keyStatus, modes, splitToken, type Mode, type Scope } from '../../models/rules/access/keys.ts';
import { hasRole } from '../../models/rules/access/roles.ts';
import { findUser } from '../../models/access/user.ts';

const touchEveryMs = 60_000;

export type Authenticator = (request: {
  guard: Guard;
  authorization: string | undefined;
  orgId: string | undefined;
  mode: Mode | undefined;
  address: string;
  /** The request as its provider signed it, on routes that take signatures. */
  signed: SignedRequest | undefined;
}) => Promise<Principal>;

/** Builds the check that every route runs. It caches keys in this process. */
export function createAuthenticator(ctx: Context): Authenticator {
  const cachedKey = cached(
    async (token: string) => {
      const record = await findKeyByToken(token);
      const org = record && (await findOrganization(record.org_id));
      return record && org ? { record, org } : undefined;
    },
    { keyOf: hashToken },
  );
  const touched = new LRUCache<string, true>({ max: 10_000, ttl: touchEveryMs });

  async function byKey(token: string, address: string): Promise<SelfPrincipal & { scopes: Scope[] }> {
    const parts = splitToken(token);
    if (parts?.kind !== 'secret') throw wrongKind('A publishable key belongs in a page, not here; use a secret key.');
    const found = wellFormed(token) ? await cachedKey(token) : undefined;
    if (!found) throw unauthenticated('This API key does not exist; check that it was copied whole.');
    const { record, org } = found;
    const now = ctx.clock();
    const status = keyStatus(record, now);
    if (status !== 'active') throw unauthenticated(`This API key is ${status}; use another one.`);
    if (!touched.has(record._id)) {
      touched.set(record._id, true);
      touchKey(record._id, now).catch((error: unknown) => ctx.log.warn({ err: error }, 'last_used_at was not stored'));
    }
    const { mode, downgraded } = effectiveMode(record.mode, org.environment);
    return {
      kind: 'key',
      address,
      actor: record._id,
      orgId: record.org_id,
      orgName: org.name,
      environment: org.environment,
      mode,
      modes: [mode],
      downgraded,
      scopes: record.scopes,
      record,
    };
  }

  /**
   * `orgId`: an organization that is read in parallel with the user. A token that this deployment did not sign causes
   * no read.
   */
  async function byJwt(token: string, address: string, orgId: string | undefined) {
    const claims = await ctx.tokens.verify(token);
    if (!claims) throw unauthenticated('This login has expired or is not one of ours; log in again.');
    const [user, org] = await Promise.all([
      findUser(claims.userId),
      orgId === undefined ? null : findOrganization(orgId),
    ]);
    if (!user || user.epoch !== claims.epoch) throw unauthenticated('This login is no longer valid; log in again.');
    const principal: UserPrincipal = { kind: 'user', userId: claims.userId, address };
    return { principal, org };
  }

  return async ({ guard, authorization, orgId, mode, address, signed }) => {
    if (guard.kind === 'open') return { kind: 'anonymous', address };
    if (guard.kind === 'signature') {
      const { name, verify } = guard.provider;
      return { kind: 'signature', address, provider: name, sender: await verify(signed!, ctx) };
    }
    const token = bearer(authorization);
    const isKey = splitToken(token) !== undefined;
    const wantsKey = guard.kind === 'key' || guard.kind === 'self';
    if (isKey && !wantsKey) {
      const wanted = guard.kind === 'session' ? 'a session token' : 'a dashboard login';
      throw wrongKind(`This route takes ${wanted}, not an API key.`);
    }
    if (guard.kind === 'session') {
      const principal = await readSession(ctx, token, address);
      if (principal.orgId !== orgId) throw noSuch('organization');
      return principal;
    }
    if (isKey) {
      const { scopes: granted, ...principal } = await byKey(token, address);
      const ofItself = guard.kind === 'self';
      if (!ofItself && principal.orgId !== orgId) throw noSuch('organization');
      const scope = ofItself || guard.kind === 'key' ? guard.scope : undefined;
      if (scope !== undefined && !granted.includes(scope)) {
        throw new Problem('MISSING_SCOPE', { message: `This key lacks the scope ${scope}.` });
      }
      if (ofItself) return principal;
      if (mode && mode !== principal.mode) {
        const message = principal.downgraded
          ? 'The organization is not live yet, so until it is this live key sees test data only; leave the mode out, or go live first.'
          : `This key sees ${principal.mode} data only; leave the mode out, or use a ${mode} key.`;
        throw invalid(['query', 'mode'], message);
      }
      return principal;
    }
    if (guard.kind === 'self' || (guard.kind === 'key' && guard.keyOnly)) {
      if (!(await ctx.tokens.verify(token))) throw unauthenticated('Send a secret API key.');
      throw wrongKind('This route takes a secret API key, not a dashboard login.');
    }
    const { principal: user, org } = await byJwt(token, address, guard.kind === 'jwt' ? undefined : orgId);
    if (guard.kind === 'jwt') return user;
    const membership = org?.members.find((m) => m.user_id === user.userId);
    if (!org || !membership) throw noSuch('organization');
    if (guard.kind === 'member') {
      if (!hasRole(membership.role, guard.role)) {
        throw new Problem('MISSING_ROLE', {
          message: `This takes the role ${guard.role}; yours is ${membership.role}.`,
        });
      }
      return { ...user, orgId: org._id, org, role: membership.role };
    }
    return {
      kind: 'member',
      address,
      actor: user.userId,
      role: membership.role,
      orgId: org._id,
      environment: org.environment,
      mode: mode ?? (org.environment === 'production' ? 'live' : 'test'),
      modes: mode ? [mode] : [...modes],
      downgraded: false,
    };
  };
}

function bearer(authorization: string | undefined): string {
  const token = /^Bearer +([^\s]{1,4096})$/i.exec(authorization ?? '')?.[1];
  if (!token) throw unauthenticated('Send a credential as `Authorization: Bearer …`.');
  return token;
}

function unauthenticated(message: string): Problem {
  return new Problem('UNAUTHENTICATED', { message });
}

function wrongKind(message: string): Problem {
  return new Problem('WRONG_CREDENTIAL_KIND', { message });
}
