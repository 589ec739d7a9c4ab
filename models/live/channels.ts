/**
 * Frames over Redis. The process that appends a frame publishes the frame on the channels of the frame's stream and
 * organization. Each process subscribes to the channels that its sockets need. The frame log in MongoDB stays
 * authoritative: processes read frames that were not published from the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { hearLosses, redis } from '../base/redis.ts';

/** The pause after a failed subscription, in ms. */
const againMs = 1_000;

/** The fields of a frame (frame.ts) that channels need. */
type Published = { stream: string; org_id: string; at: Date };

/**
 * The channel of a stream or an organization. Its name contains the database's name, because several deployments may
 * share a Redis.
 */
const channelOf = (id: string): string => `${mongoose.connection.name}:frames:${id}`;

/**
 * Publishes appended frames, without waiting, and ignores failures, because the receiving processes reread the log
 * regularly.
 */
export function publishFrames(frames: readonly Published[]): void {
  const connection = redis();
  if (connection?.status !== 'ready') return;
  for (const frame of frames) {
    const text = JSON.stringify(frame);
    for (const id of [frame.stream, frame.org_id]) connection.publish(channelOf(id), text).catch(() => undefined);
  }
}

/** The channels that a process is subscribed to. */
export type Channels = {
  /**
   * Resolves when the process is subscribed to this stream or organization, or when Redis is unreachable. Never
   * rejects.
   */
  follow(id: string): Promise<void>;
  unfollow(id: string): void;
  /** Whether the subscriptions are active now. */
  works(): boolean;
  close(): void;
};

type Heard<F> = {
  /** `id`: the stream or the organization on whose channel the frame came. */
  frame(id: string, frame: F): void;
  /** Called when the subscriptions begin, for the first time or again: earlier frames may have been missed. */
  missed(): void;
  away(error: Error): void;
};

/** Opens a connection for subscriptions; undefined without Redis. */
export function openChannels<F extends Published>(heard: Heard<F>): Channels | undefined {
  const subscriber = redis()?.duplicate();
  if (subscriber === undefined) return undefined;
  const followed = new Set<string>();
  let works = false;
  hearLosses(subscriber, heard.away);

  async function begin(): Promise<void> {
    while (!works && subscriber!.status === 'ready') {
      const ids = [...followed].map(channelOf);
      works = await subscriber!.subscribe(channelOf('none'), ...ids).then(
        () => true,
        () => false,
      );
      if (!works) await sleep(againMs);
    }
    if (works) heard.missed();
  }
  subscriber.on('ready', () => void begin());
  subscriber.on('close', () => {
    works = false;
  });
  const prefix = channelOf('');
  subscriber.on('message', (channel: string, text: string) => {
    const frame = JSON.parse(text) as F;
    heard.frame(channel.slice(prefix.length), { ...frame, at: new Date(frame.at) });
  });

  return {
    async follow(id) {
      followed.add(id);
      await subscriber.subscribe(channelOf(id)).catch(() => undefined);
    },
    unfollow(id) {
      followed.delete(id);
      subscriber.unsubscribe(channelOf(id)).catch(() => undefined);
    },
    works: () => works,
    close: () => subscriber.disconnect(),
  };
}
