/** What another service sent, once it is verified: what it is, and whose. Types only. */
import type { Mode } from '../../models/rules/access/keys.ts';
import type { InboundProvider } from '../../models/rules/events/inbound.ts';

/** Whose it is. `unknown`: nobody's who is connected; the sentence says why. */
export type Owner = { orgId: string; mode: Mode } | { unknown: string };

export type Arrival = {
  provider: InboundProvider;
  /** Who signed it. Deliveries of two senders are never repeats of each other. */
  sender: string;
  /** What a repeat shares with it: the provider's id of the delivery, a hash of what was signed. */
  keys: readonly string[];
  owner: Owner;
  /** Those of one lane are processed in the order of their arrival. */
  lane: string;
  type: string;
  /** JSON. */
  body: string;
};

/** An organization as the owner of what arrived, in the mode that it is in. */
export type OwnedBy = (orgId: string) => Promise<Owner>;
