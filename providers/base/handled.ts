/** The interface of handlers of inbound records: what each provider implements for the common processing. */
import type { Start } from '../../models/base/pending.ts';
import type { Inbound } from '../../models/events/inbound.ts';

/** What an event changed, or why it was ignored: a sentence for members, without secrets. */
export type Handled = { outcome: string } | { ignored: string };

/**
 * Applies an event. A handler may run again after a crash, so its effects are idempotent by the record's id. An error
 * that it throws causes a retry. An event that can never succeed is `ignored`, and so is one that `understood`
 * (understood.ts) rejects.
 */
export type InboundHandler<Deps> = (inbound: Inbound, deps: Deps, signal: AbortSignal) => Promise<Handled>;

export type Starter = { start: Start };
