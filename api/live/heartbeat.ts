/**
 * One timer for all sockets of a process: it pings them, closes those that do not respond, and runs each socket's
 * check.
 */
import { WebSocket } from 'ws';
import type { LiveSocket } from './socket.ts';

/** A connection is closed after this many missed pings in a row. */
const missedPings = 2;
const everyMs = 1_000;

/** Starts the timer. Every second it calls `each`, and `check` for each socket. Returns the function that stops it. */
export function startHeartbeat(
  open: ReadonlySet<LiveSocket>,
  pingEveryMs: number,
  each: () => void,
  check: (socket: LiveSocket) => void,
): () => void {
  const beat = (): void => {
    const now = performance.now();
    each();
    for (const socket of open) {
      check(socket);
      if (now - socket.pingedAt < pingEveryMs) continue;
      socket.pingedAt = now;
      if (socket.missedPings >= missedPings) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
      socket.missedPings += 1;
    }
  };
  const timer = setInterval(beat, Math.min(everyMs, pingEveryMs)).unref();
  return () => clearInterval(timer);
}
