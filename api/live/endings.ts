/**
 * Closes the sockets whose credential or stream has ended. Endings that the change stream did not report while it was
 * down are looked up in the database afterwards.
 */
import type { Connections } from './connections.ts';
import type { LiveSocket } from './socket.ts';
import type { StreamKind } from './stream.ts';
import type { Context } from '../context.ts';

export function createEndings(
  { log }: Pick<Context, 'log'>,
  kinds: readonly StreamKind<unknown>[],
  connections: Connections,
  followersOf: (stream: string) => LiveSocket[],
) {
  /** Whether the change stream was down, so that ended credentials or streams may have been missed. */
  let doubtful = false;

  function endCredential(kind: StreamKind<unknown>, id: string): void {
    for (const socket of connections.of(kind, id)) socket.refuse(kind.credentials.ended());
  }

  function endStream(kind: StreamKind<unknown>, id: string): void {
    for (const socket of followersOf(id)) socket.refuse(kind.streams.ended());
  }

  /** Closes the sockets of credentials and streams that ended while the change stream was down. */
  async function lookForMissed(): Promise<void> {
    try {
      for (const kind of kinds) {
        const ended = await kind.credentials.endedAmong(connections.credentials(kind));
        for (const id of ended) endCredential(kind, id);
        for (const id of (await kind.streams.endedAmong?.(connections.streams(kind))) ?? []) endStream(kind, id);
      }
      doubtful = false;
    } catch (error) {
      log.warn({ err: error }, 'the endings of sockets were not looked up; they are again in a second');
    }
  }

  return {
    /** Called when the change stream reports that a record ended. */
    ended(collection: string, id: string): void {
      for (const kind of kinds) {
        if (kind.credentials.collection === collection) endCredential(kind, id);
        if (kind.streams.collection === collection) endStream(kind, id);
      }
    },
    /** Called after the change stream was down, when ended credentials or streams may have been missed. */
    missed(): void {
      doubtful = true;
      void lookForMissed();
    },
    /** The heartbeat calls this every second. If the last search for missed endings failed, it is repeated. */
    retry(): void {
      if (doubtful) void lookForMissed();
    },
  };
}
