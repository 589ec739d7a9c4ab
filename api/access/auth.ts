/**
 * Guards, which are data on a route, and the principals that they let in. authenticator.ts checks a guard and returns
 * the
 * principal.
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

/** No credential is needed. */
export const open = { kind: 'open' } as const satisfies Guard;
/** A dashboard login. */
export const jwt = { kind: 'jwt' } as const satisfies Guard;
/** A dashboard login of a member of `{orgId}` with at least this role. */
export const member = (role: Role = 'member') => ({ kind: 'member', role }) as const satisfies Guard;
/** An API key of `{orgId}` with this scope, or (unless `keyOnly`) the dashboard login of a member. */
export const key = (scope: Scope, { keyOnly = false } = {}) =>
  ({ kind: 'key', scope, keyOnly }) as const satisfies Guard;
/** Any secret key, asking about itself. */
export const self = { kind: 'self' } as const satisfies Guard;
/** Any secret key with this scope, where the path names no organization: the key's own is meant. */
export const ownKey = (scope: Scope) => ({ kind: 'self', scope }) as const satisfies Guard;
/** A customer with the token of a support session of `{orgId}`. */
export const session = { kind: 'session' } as const satisfies Guard;

/**
 * The service that `provider` stands for has signed the body; nothing of the body is parsed before that is verified.
 */
export const signature = <S extends Sender>(provider: SignatureProvider<S>) =>
  ({ kind: 'signature', provider }) as const satisfies Guard;

/** Who signed a request; `id` is what limits and idempotency count by. */
export type Sender = { id: string };
/** A service that signs what it sends. */
export type SignatureProvider<S extends Sender = Sender> = {
  /** `slack`, as counters and the API's description name it. */
  name: string;
  /** The header that holds the signature, in lower case. */
  header: string;
  /** Who sent this. Throws `UNAUTHENTICATED` when the service did not sign it, or signed it too long ago. */
  verify(request: SignedRequest, ctx: Context): Promise<S>;
};

type Address = { /** The caller's network address. */ address: string };
export type UserPrincipal = Address & { kind: 'user'; userId: string };
export type MemberPrincipal = UserPrincipal & { orgId: string; org: Organization; role: Role };
export type TenantPrincipal = Address & {
  kind: 'key' | 'member';
  /** The key's or the user's id. */
  actor: string;
  /** A member's role; a key has none. */
  role?: Role;
  orgId: string;
  environment: Environment;
  /** The mode that writes go to and questions are asked in. */
  mode: Mode;
  /** The modes that a read of the whole organization may see. */
  modes: Mode[];
  /** Whether a live key was used before the organization is live. */
  downgraded: boolean;
};
export type SelfPrincipal = TenantPrincipal & { record: Key; orgName: string };
export type SessionPrincipal = Address & {
  kind: 'session';
  orgId: string;
  /** The session's mode, which stays the same for its life. */
  mode: Mode;
  modes: [Mode];
  sessionId: string;
  customerId: string;
  /** Whether a backend or a signature has vouched for who the customer is. */
  verified: boolean;
  /** The product that a search is limited to: signed with the session, or, for an embed, as the page claims. */
  productType?: string;
  /** What else the session was minted with; absent when there is nothing else. */
  context?: Readonly<Record<string, unknown>>;
  /** When the session ends if nothing prolongs it. */
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

/** What rate limits and idempotency count by. */
export function credentialId(principal: Principal): string {
  if (principal.kind === 'anonymous') return `address:${networkOf(principal.address)}`;
  if (principal.kind === 'session') return principal.sessionId;
  if (principal.kind === 'signature') return `${principal.provider}:${principal.sender.id}`;
  return 'actor' in principal ? principal.actor : principal.userId;
}
