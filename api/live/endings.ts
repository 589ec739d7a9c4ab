/**
 * Closes the sockets of credentials and streams that have ended, including those that ended while the change stream was
 * down.
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
  /** Whether the end of a credential may have been missed. */
  let doubtful = false;

  function endCredential(kind: StreamKind<unknown>, id: string): void {
    for (const socket of connections.of(kind, id)) socket.refuse(kind.credentials.ended());
  }

  /** Looks for credentials that ended while the change stream was down. */
  async function lookForMissed(): Promise<void> {
    try {
      for (const kind of kinds) {
        const ended = await kind.credentials.endedAmong(connections.credentials(kind));
        for (const id of ended) endCredential(kind, id);
      }
      doubtful = false;
    } catch (error) {
      log.warn({ err: error }, 'credentials of sockets were not looked up; they are again in a second');
    }
  }

  return {
    /** A record ended. */
    ended(collection: string, id: string): void {
      for (const kind of kinds) {
        if (kind.credentials.collection === collection) endCredential(kind, id);
        if (kind.streams.collection !== collection) continue;
        for (const socket of followersOf(id)) socket.refuse(kind.streams.ended());
      }
    },
    /** The change stream was down for a while. */
    missed(): void {
      doubtful = true;
      void lookForMissed();
    },
    /** Call this every second. */
    retry(): void {
      if (doubtful) void lookForMissed();
    },
  };
}
