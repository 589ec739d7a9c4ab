/** A verified webhook or mail from another service, with the organization that it belongs to. */
import type { Mode } from '../../models/rules/access/keys.ts';
import type { InboundProvider } from '../../models/rules/events/inbound.ts';

/** The owner of an arrival. `unknown`: no connected organization owns the arrival; the sentence says why. */
export type Owner = { orgId: string; mode: Mode } | { unknown: string };

export type Arrival = {
  provider: InboundProvider;
  /**
   * The id of the sender that signed the request, such as an organization. Requests of different senders are never
   * repeats of each other.
   */
  sender: string;
  /** Idempotency keys, such as the provider's delivery id and a hash of the signed content. Repeats share a key. */
  keys: readonly string[];
  owner: Owner;
  /** Arrivals of one lane are processed in the order in which they arrived. */
  lane: string;
  type: string;
  /** The payload as JSON text. */
  body: string;
};

/** Returns the organization as an owner, with its current mode. */
export type OwnedBy = (orgId: string) => Promise<Owner>;
