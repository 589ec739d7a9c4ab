/** What access asks of slices that come after it; api/hooks.ts says who does it. Types only. */
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import type { Mode } from '../../models/rules/access/keys.ts';

/** Who the customer of a session is, as a backend vouches. `email` is trimmed and in lower case. */
type Identity = { [K in 'externalId' | 'email' | 'name' | 'visitorId']?: string | undefined };

/** A mail to somebody outside. `use`: of one use there is one mail, however often it is asked for. */
type OutsideMail = { orgId: string; address: string; account: string; use: string };

export type AccessHooks<Context> = {
  /** Has a mail sent. `orgId`: the organization that it is sent for; without one it is shown to nobody. */
  mailAccount(ctx: Context, letter: AccountLetter, orgId?: string): Promise<void>;
  /** Whether an invitation of this organization can be mailed there, and its receiver has not objected. */
  canInviteByMail(ctx: Context, orgId: string, email: string): Promise<boolean>;
  /** Counts a mail to somebody outside. @throws Problem RATE_LIMITED */
  countOutside(ctx: Context, mail: OutsideMail, now: Date): Promise<void>;
  /** The customer of this identity, made now if there is none. */
  provideCustomer(orgId: string, mode: Mode, identity: Identity, now: Date): Promise<{ _id: string }>;
};
