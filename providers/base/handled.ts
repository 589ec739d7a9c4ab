/** What a handler of an event is: the seam between the machinery and what each provider's events do. Types only. */
import type { Model } from 'mongoose';
import type { Intent, Launchable } from '../../models/base/pending.ts';
import type { Inbound } from '../../models/events/inbound.ts';

/** What an event did, or why it did nothing; a sentence for members, which names nothing secret. */
export type Handled = { outcome: string } | { ignored: string };

/**
 * Does what the event asks for. It may run again after a death at any point, so its effects are idempotent by the record's
 * id. What it throws is tried again; an event that can never succeed is `ignored`, and so is one
 * that `understood` (understood.ts) refuses.
 */
export type InboundHandler<Deps> = (inbound: Inbound, deps: Deps, signal: AbortSignal) => Promise<Handled>;

/** Starts the workflows that a saved record asks for, at once. It never fails: what is not started is left to the sweeper. */
export type Starter = {
  start: <T extends Launchable>(model: Model<T>, record: Launchable, intents: readonly Intent[]) => Promise<void>;
};
