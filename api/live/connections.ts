/** Counts the open sockets of a process per network and per credential, and decides whether another one is allowed. */
import type { LiveSocket } from './socket.ts';
import type { Config } from '../../config.ts';
import type { Stream } from '../../models/live/frame.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type Connections = ReturnType<typeof createConnections>;

export function createConnections({ maxSockets, socketsPerAddress }: Pick<Config, 'maxSockets' | 'socketsPerAddress'>) {
  const open = new Set<LiveSocket>();
  const fromNetwork = new Map<string, number>();
  /**
   * The sockets of each credential, in arrays: most credentials have one socket, and a Set with one entry takes several
   * times the memory.
   */
  const byCredential = new Map<LiveSocket['kind'], Map<string, LiveSocket[]>>();

  const ofKind = (kind: LiveSocket['kind']): Map<string, LiveSocket[]> => {
    const known = byCredential.get(kind) ?? new Map<string, LiveSocket[]>();
    byCredential.set(kind, known);
    return known;
  };

  return {
    open: open as ReadonlySet<LiveSocket>,

    of: (kind: LiveSocket['kind'], credential: string): readonly LiveSocket[] =>
      ofKind(kind).get(credential)?.slice() ?? [],
    credentials: (kind: LiveSocket['kind']): string[] => [...ofKind(kind).keys()],
    /** The streams that sockets of this kind follow; a stream is listed once for each of its sockets. */
    streams: (kind: LiveSocket['kind']): Stream[] =>
      [...open].filter((socket) => socket.kind === kind && socket.stream !== ''),

    /** Why this network may open no further socket now; undefined when it may. */
    full(network: string): Problem | undefined {
      if (open.size >= maxSockets) return noRoom();
      if ((fromNetwork.get(network) ?? 0) < socketsPerAddress) return undefined;
      return new Problem('RATE_LIMITED', {
        message: `An address may have ${socketsPerAddress} sockets; close one.`,
        headers: { 'Retry-After': '30' },
      });
    },

    add(socket: LiveSocket): void {
      open.add(socket);
      fromNetwork.set(socket.network, (fromNetwork.get(socket.network) ?? 0) + 1);
    },

    /**
     * Registers a socket under its client's credential. @throws Problem RATE_LIMITED when the client's share of the
     * credential has too many sockets.
     */
    identify<C>(socket: LiveSocket<C>, client: C): void {
      const { credentials } = socket.kind!;
      const sockets = ofKind(socket.kind);
      const siblings = sockets.get(credentials.of(client));
      const share = credentials.share?.(client);
      const rivals = siblings?.filter((one) => credentials.share?.(one.client as C) === share);
      if (rivals && rivals.length >= credentials.maxSockets) {
        throw new Problem('RATE_LIMITED', {
          message: `At most ${credentials.maxSockets} sockets may be open with one login, session or link; close one.`,
        });
      }
      socket.client = client;
      if (siblings) siblings.push(socket);
      else sockets.set(credentials.of(client), [socket]);
    },

    remove(socket: LiveSocket): void {
      open.delete(socket);
      const { kind, client, network } = socket;
      const others = (fromNetwork.get(network) ?? 1) - 1;
      if (others > 0) fromNetwork.set(network, others);
      else fromNetwork.delete(network);
      if (client === undefined || !kind) return;
      const credential = kind.credentials.of(client);
      const siblings = ofKind(kind).get(credential);
      if (!siblings?.includes(socket)) return;
      if (siblings.length === 1) ofKind(kind).delete(credential);
      else siblings.splice(siblings.indexOf(socket), 1);
    },
  };
}

export const noRoom = (): Problem =>
  new Problem('UNAVAILABLE', {
    message: 'This process takes no further sockets; try again.',
    headers: { 'Retry-After': '5' },
  });
