/**
 * Functions that the slice `access` calls and other slices implement, because it may not import those slices
 * (docs/architecture.md, "Slices"). api/hooks.ts connects them.
 */
import type { ClientSession } from 'mongoose';
import type { AccountLetter } from '../../models/rules/access/accountmail.ts';
import type { Mode } from '../../models/rules/access/keys.ts';

/** A session's customer as the backend identifies them. `email` is trimmed and in lower case. */
type Identity = { [K in 'externalId' | 'email' | 'name' | 'visitorId']?: string | undefined };

/**
 * A mail to a person outside the organization. `use`: an idempotency key; mails with the same `use` are counted once.
 */
type OutsideMail = { orgId: string; address: string; account: string; use: string };

export type AccessHooks<Context> = {
  /**
   * Queues a mail about an account. `orgId`: the organization that sees the delivery; without one, no organization sees
   * it.
   */
  mailAccount(ctx: Context, letter: AccountLetter, orgId?: string): Promise<void>;
  /**
   * Makes a change of an account and queues the notice about it, in one transaction. `change` returns the notice;
   * undefined for none. MongoDB may run `change` more than once.
   */
  changeAndTell(ctx: Context, change: (session: ClientSession) => Promise<AccountLetter | undefined>): Promise<void>;
  /** Whether the address has opted out of mails to people outside. */
  hasOptedOut(ctx: Context, orgId: string, email: string): Promise<boolean>;
  /** Whether the organization can mail an invitation to this address, and the address has not opted out. */
  canInviteByMail(ctx: Context, orgId: string, email: string): Promise<boolean>;
  /** Counts a mail to a person outside the organization, or an addition of a member. @throws Problem RATE_LIMITED */
  countOutside(ctx: Context, mail: OutsideMail, now: Date): Promise<void>;
  /** Returns the customer with this identity; creates the customer if there is none. */
  provideCustomer(orgId: string, mode: Mode, identity: Identity, now: Date): Promise<{ _id: string }>;
};
