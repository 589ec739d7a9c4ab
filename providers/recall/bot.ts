/**
 * A bot that sits in a call: one shape for the services that send bots into outside calls, and for the room of this platform
 * (activities/interviews/room.ts). A service that cannot do what is asked is an outcome, `BotRefused`; any other error is an
 * outage.
 */
import type { BotKind, BotRef } from '../../models/rules/interviews/interview.ts';
import { botReasons, type BotReason, type BotState } from '../../models/rules/interviews/bot.ts';

export type BotOrder = {
  meetingUrl: string;
  name: string;
  /** Comes back in the service's events. */
  metadata: Readonly<Record<string, string>>;
  /** The same for the same bot: ordering it again sends no second one. */
  key: string;
  /** Which order this is: a service repeats its answer to an order that is sent again. */
  order: number;
  /** Whether this bot may have been ordered before. */
  again: boolean;
};

/** What was said in a call, as a service heard it; times in ms from its beginning. */
export type Heard = { speaker: string; startMs: number; endMs?: number; text: string };

export type Bot = {
  kind: BotKind;
  /** Sends a bot into a call. @throws BotRefused */
  schedule(order: BotOrder, signal?: AbortSignal): Promise<BotRef>;
  /** Has it leave, wherever it is. One that has left, or is unknown, is done. */
  cancel(id: string, signal?: AbortSignal): Promise<void>;
  get(id: string, signal?: AbortSignal): Promise<BotState>;
  /** The bots that orders with this key have sent. */
  sent(key: string, signal?: AbortSignal): Promise<string[]>;
  /**
   * Has the service delete what a bot recorded and wrote down. False when it does not yet, as of a bot that has not ended. What
   * is deleted already, or of a bot that is unknown, is done.
   */
  erase(id: string, signal?: AbortSignal): Promise<boolean>;
  /** Undefined while the service is still writing it. */
  transcript(id: string, signal?: AbortSignal): Promise<Heard[] | undefined>;
};

export class BotRefused extends Error {
  override readonly name = 'BotRefused';
  readonly reason: BotReason;
  constructor(reason: BotReason, cause?: unknown) {
    super(botReasons[reason], { cause });
    this.reason = reason;
  }
}
