/**
 * Follows the frame log, once in each API process. Every follower of a stream gets the stream's frames in order and
 * each once, whichever process appended them. Frames come over Redis where it is configured, otherwise from MongoDB's
 * change stream. Frames that did not arrive are read from the log, so an interruption of Redis or of the change stream
 * loses nothing.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { watchChanges, type Changes, type WatchedRecords } from '../../models/live/changes.ts';
import { openChannels } from '../../models/live/channels.ts';
import { framesAfter, nextFrames, type Frame, type Stream } from '../../models/live/frame.ts';

export type Follower = Stream & {
  /** The sequence number of the last frame that was sent to the follower; the tail increases it. */
  seq: number;
  deliver(frame: Frame): void;
  /** Resolves when the follower can accept more; called between batches of missed frames. */
  ready(): Promise<void>;
};

export type Tail<F extends Follower> = {
  followersOf(stream: string): F[];
  /** Sends the follower every frame after its `seq` from now on. Resolves when all frames in the log have been sent. */
  follow(follower: F): Promise<void>;
  unfollow(follower: F): void;
  /** Resolves when all frames that were in the log at the time of the call have been sent. */
  catchUp(follower: F): Promise<void>;
  close(): Promise<void>;
};

type TailDeps = {
  log: Logger;
  /** Records of these collections are reported to `ended` when they end, for example when they are deleted. */
  watched: readonly WatchedRecords[];
  ended(collection: string, id: string): void;
  /**
   * Called for every frame of every stream, except during an interruption. With Redis, it is called only for frames of
   * organizations that have a follower: one whose `stream` is the organization's id.
   */
  heard(frame: Frame): void;
  /**
   * Called after an interruption, when `heard` may have missed frames; while Redis is unreachable, every two seconds.
   */
  missed(): void;
  /** Called when the change stream has recovered from an interruption, in which it may have missed ended records. */
  renewed(): void;
};

/**
 * The number of frames in one read. Twenty of the largest frames are 640 KB, which is less than the unsent data at
 * which a slow client is disconnected.
 */
const batchSize = 20;
/** The number of followers that read at the same time after an interruption; some database connections stay free. */
const readers = 16;
const retryMs = { first: 100, last: 5_000 };
/**
 * With Redis: how often the log is searched for frames that were not published, in ms; `away`: while Redis is
 * unreachable. A process that is killed right after it appended a frame does not publish it.
 */
const rereadMs = { works: 10_000, away: 2_000 };
/** The number of followers that one query of `reread` covers. */
const rereadBatch = 1_000;

/** A follower's state. `behind`: the log may have frames that were not sent to the follower. */
type Place<F> = { follower: F; behind: boolean; reading: Promise<void> | undefined; left: boolean };

/** Starts the change stream. MongoDB need not be reachable yet: the start is retried until `close`. */
export function startTail<F extends Follower>({ log, watched, ended, heard, missed, renewed }: TailDeps): Tail<F> {
  const followed = new Map<string, Place<F>[]>();
  const limit = pLimit(readers);
  const closing = new AbortController();
  let changes: Changes | undefined;
  const channels = openChannels<Frame>({
    frame(id, frame) {
      if (id === frame.stream) hear(frame);
      else heard(frame);
    },
    missed: readMissed,
    away: (error) => log.warn({ err: error }, 'Redis is away; frames are read from the log until it is back'),
  });

  const placeOf = (follower: F): Place<F> | undefined =>
    followed.get(follower.stream)?.find((place) => place.follower === follower);

  function give({ follower }: Place<F>, frame: Frame): void {
    if (frame.seq <= follower.seq) return;
    follower.seq = frame.seq;
    follower.deliver(frame);
  }

  function hear(frame: Frame): void {
    for (const place of followed.get(frame.stream) ?? []) {
      if (place.reading === undefined && frame.seq === place.follower.seq + 1) give(place, frame);
      else if (frame.seq > place.follower.seq) void readOn(place);
    }
  }

  /**
   * Reads the frames that a follower has not got yet. There is one reader per follower, so that frames stay in order.
   * Never rejects.
   */
  function readOn(place: Place<F>): Promise<void> {
    place.behind = true;
    place.reading ??= readLog(place);
    return place.reading;
  }

  async function readLog(place: Place<F>): Promise<void> {
    const { follower } = place;
    let pause = retryMs.first;
    while (place.behind && !place.left) {
      place.behind = false;
      try {
        for (;;) {
          const frames = await limit(() => framesAfter(follower, follower.seq, batchSize));
          // If the follower has left meanwhile, it gets no further frames.
          if (placeOf(follower) !== place) break;
          for (const frame of frames) give(place, frame);
          if (frames.length < batchSize) break;
          await follower.ready();
        }
      } catch (error) {
        log.warn({ err: error, stream: follower.stream }, 'the frame log was not read; it is tried again');
        place.behind = true;
        await sleep(pause);
        pause = Math.min(pause * 2, retryMs.last);
      }
    }
    place.reading = undefined;
  }

  const sleep = (ms: number): Promise<void> =>
    wait(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);

  function take(change: Awaited<ReturnType<Changes['next']>>): void {
    if (change.kind === 'frame') {
      hear(change.frame);
      heard(change.frame);
    } else ended(change.collection, change.id);
  }

  function readMissed(): void {
    for (const places of followed.values()) for (const place of places) void readOn(place);
    missed();
  }

  /** Finds followers that lack frames, with few queries for all of them. */
  async function reread(): Promise<void> {
    const followers = [...followed.values()].flat().map(({ follower }) => follower);
    for (let from = 0; from < followers.length; from += rereadBatch) {
      const next = await nextFrames(followers.slice(from, from + rereadBatch));
      for (const { stream, seq } of next)
        for (const place of followed.get(stream) ?? []) if (place.follower.seq < seq) void readOn(place);
    }
  }

  async function rereadRegularly(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(channels?.works() ? rereadMs.works : rereadMs.away);
      if (closing.signal.aborted) break;
      await reread().catch((error: unknown) =>
        log.warn({ err: error }, 'missed frames were not looked for; they are again soon'),
      );
      if (!channels?.works()) missed();
    }
  }

  async function listen(): Promise<void> {
    let pause = retryMs.first;
    while (!closing.signal.aborted) {
      try {
        changes = watchChanges(watched, { frames: channels === undefined });
        const first = await changes.opened();
        readMissed();
        renewed();
        if (first) take(first);
        pause = retryMs.first;
        for (;;) take(await changes.next());
      } catch (error) {
        if (closing.signal.aborted) break;
        log.warn({ err: error }, 'the change stream of the frame log broke; it is opened again');
        await sleep(pause);
        pause = Math.min(pause * 2, retryMs.last);
      }
      await changes?.close().catch(() => undefined);
    }
  }
  const listening = Promise.all([listen(), channels === undefined ? undefined : rereadRegularly()]);

  return {
    followersOf: (stream) => (followed.get(stream) ?? []).map(({ follower }) => follower),
    async follow(follower) {
      const place: Place<F> = { follower, behind: false, reading: undefined, left: false };
      const places = followed.get(follower.stream);
      if (places) places.push(place);
      else followed.set(follower.stream, [place]);
      // The follower is subscribed before the log is read, so that no frame is missed in between.
      await channels?.follow(follower.stream);
      if (!place.left) await readOn(place);
    },
    unfollow(follower) {
      const places = followed.get(follower.stream);
      const place = placeOf(follower);
      if (!places || !place) return;
      place.left = true;
      if (places.length === 1) {
        followed.delete(follower.stream);
        channels?.unfollow(follower.stream);
      } else places.splice(places.indexOf(place), 1);
    },
    async catchUp(follower) {
      const place = placeOf(follower);
      if (place) await readOn(place);
    },
    async close() {
      closing.abort();
      for (const places of followed.values()) for (const place of places) place.left = true;
      channels?.close();
      await changes?.close().catch(() => undefined);
      await listening;
    },
  };
}
