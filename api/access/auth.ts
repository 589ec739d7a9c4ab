/**
 * Guards, which routes declare as data, and the principals that guards admit. authenticator.ts checks a guard and
 * returns the principal.
 */
import type { Context } from '../context.ts';
import { networkOf } from '../http/address.ts';
import type { Key } from '../../models/access/key.ts';
import type { Organization } from '../../models/access/organization.ts';
import type { Environment, Mode, Scope } from '../../models/rules/access/keys.ts';
import type { Role } from '../../models/rules/access/roles.ts';
import type { SignedRequest } from '../../providers/base/signing.ts';

export type Guard =
  | { kind: 'open' }
  | { kind: 'jwt' }
  | { kind: 'member'; role: Role }
  | { kind: 'key'; scope: Scope; keyOnly: boolean }
  | { kind: 'self'; scope?: Scope }
  | { kind: 'session' }
  | { kind: 'signature'; provider: SignatureProvider };

/** A route without a guard: no credential is needed. */
export const open = { kind: 'open' } as const satisfies Guard;
/** Any valid dashboard login; no organization is checked. */
export const jwt = { kind: 'jwt' } as const satisfies Guard;
/** A dashboard login of a member of `{orgId}` with at least this role. */
export const member = (role: Role = 'member') => ({ kind: 'member', role }) as const satisfies Guard;
/** An API key of `{orgId}` with this scope, or (unless `keyOnly`) the dashboard login of a member. */
export const key = (scope: Scope, { keyOnly = false } = {}) =>
  ({ kind: 'key', scope, keyOnly }) as const satisfies Guard;
/** Any secret key, for routes about the key itself. */
export const self = { kind: 'self' } as const satisfies Guard;
/** Any secret key with this scope, for paths without an organization: the key's own organization is used. */
export const ownKey = (scope: Scope) => ({ kind: 'self', scope }) as const satisfies Guard;
/** A customer with the token of a support session of `{orgId}`. */
export const session = { kind: 'session' } as const satisfies Guard;

/**
 * Requires that the service of `provider` has signed the body. Nothing of the body is parsed before the signature is
 * verified.
 */
export const signature = <S extends Sender>(provider: SignatureProvider<S>) =>
  ({ kind: 'signature', provider }) as const satisfies Guard;

/** The sender of a signed request. Rate limits are counted, and idempotency keys are stored, per `id`. */
export type Sender = { id: string };
export type SignatureProvider<S extends Sender = Sender> = {
  /** The provider's name, such as `slack`, for rate limit counters and the OpenAPI document. */
  name: string;
  /** The header that holds the signature, in lower case. */
  header: string;
  /** Verifies a request and returns its sender. Throws `UNAUTHENTICATED` when the signature is wrong or too old. */
  verify(request: SignedRequest, ctx: Context): Promise<S>;
};

type Address = { /** The caller's network address. */ address: string };
export type UserPrincipal = Address & { kind: 'user'; userId: string };
export type MemberPrincipal = UserPrincipal & { orgId: string; org: Organization; role: Role };
export type TenantPrincipal = Address & {
  kind: 'key' | 'member';
  /** The id of the key or the user. */
  actor: string;
  /** A member's role. A key has no role. */
  role?: Role;
  orgId: string;
  environment: Environment;
  /** The mode, test or live, in which the caller writes and asks questions. */
  mode: Mode;
  /** The modes that a caller may see when it reads the whole organization. */
  modes: Mode[];
  /** Whether this is a live key of an organization that is not live yet; such a key acts as a test key. */
  downgraded: boolean;
};
export type SelfPrincipal = TenantPrincipal & { record: Key; orgName: string };
export type SessionPrincipal = Address & {
  kind: 'session';
  orgId: string;
  /** The session's mode, which never changes. */
  mode: Mode;
  modes: [Mode];
  sessionId: string;
  customerId: string;
  /** Whether a backend or a signature has confirmed the customer's identity. */
  verified: boolean;
  /**
   * The product that searches are limited to. The session token contains it; for an embedded chat, the page names it.
   */
  productType?: string;
  /** Further context that the session was minted with; absent when there is none. */
  context?: Readonly<Record<string, unknown>>;
  /** When the session expires unless it is prolonged. */
  expiresAt: Date;
};
export type SignaturePrincipal<S extends Sender = Sender> = Address & {
  kind: 'signature';
  provider: string;
  sender: S;
};
export type Principal =
  | (Address & { kind: 'anonymous' })
  | UserPrincipal
  | MemberPrincipal
  | TenantPrincipal
  | SelfPrincipal
  | SessionPrincipal
  | SignaturePrincipal;

export type PrincipalOf<G extends Guard> = G extends { kind: 'open' }
  ? Address & { kind: 'anonymous' }
  : G extends { kind: 'jwt' }
    ? UserPrincipal
    : G extends { kind: 'member' }
      ? MemberPrincipal
      : G extends { kind: 'self' }
        ? SelfPrincipal
        : G extends { kind: 'session' }
          ? SessionPrincipal
          : G extends { kind: 'signature'; provider: SignatureProvider<infer S> }
            ? SignaturePrincipal<S>
            : TenantPrincipal;

/** The id of the caller. Rate limits are counted, and idempotency keys are stored, per id. */
export function credentialId(principal: Principal): string {
  if (principal.kind === 'anonymous') return `address:${networkOf(principal.address)}`;
  if (principal.kind === 'session') return principal.sessionId;
  if (principal.kind === 'signature') return `${principal.provider}:${principal.sender.id}`;
  return 'actor' in principal ? principal.actor : principal.userId;
}
