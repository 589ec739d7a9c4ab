/**
 * The interface of a bot that joins an external call. A request that the service rejects throws `BotRefused`; any other
 * error is an outage.
 */
import type { BotKind, BotRef } from '../../models/rules/interviews/interview.ts';
import { botReasons, type BotReason, type BotState } from '../../models/rules/interviews/bot.ts';

export type BotOrder = {
  meetingUrl: string;
  name: string;
  /** The service repeats these values in its events. */
  metadata: Readonly<Record<string, string>>;
  /** The idempotency key: a second order with the same key sends no second bot. */
  key: string;
  /**
   * The number of this order for the same `key`. A service answers a known number by repeating its earlier response, so
   * another order needs another number.
   */
  order: number;
  /** Whether an earlier attempt may have ordered this bot. */
  again: boolean;
};

/** Speech in a call as the service transcribed it. Times are in ms from the start of the call. */
export type Heard = { speaker: string; startMs: number; endMs?: number; text: string };

export type Bot = {
  kind: BotKind;
  /** Orders a bot for a call. @throws BotRefused */
  schedule(order: BotOrder, signal?: AbortSignal): Promise<BotRef>;
  /** Makes the bot leave. Succeeds also when the bot has left or is unknown. */
  cancel(id: string, signal?: AbortSignal): Promise<void>;
  get(id: string, signal?: AbortSignal): Promise<BotState>;
  /** The ids of bots ordered with this idempotency key. */
  sent(key: string, signal?: AbortSignal): Promise<string[]>;
  /**
   * Makes the service delete the bot's recording and transcript. Returns false when the service cannot delete them yet,
   * for example while the bot is in the call. Succeeds also when they are already deleted or the bot is unknown.
   */
  erase(id: string, signal?: AbortSignal): Promise<boolean>;
  /** The transcript of the bot's call; undefined while the service has not finished it. */
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
