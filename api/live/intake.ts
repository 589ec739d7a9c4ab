/** Queues the frames of a socket's client, limits their rate, and handles them one after the other. */
import { WebSocket, type RawData } from 'ws';
import { takeFrame } from './frames.ts';
import type { LiveSocket } from './socket.ts';
import type { Context } from '../context.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The most frames of a socket in a minute, of all types together. Frames that cost much, such as messages, have lower
 * limits of their own.
 */
const framesPerMinute = 300;
/** The most frames that wait while another frame is handled. */
const maxQueued = 100;

/** While `state.draining` is true, queued frames are dropped; the client sends them again to another process. */
export function createIntake(ctx: Pick<Context, 'log'>, state: Readonly<{ draining: boolean }>) {
  /** Handles queued frames one after the other. Never rejects. */
  async function work(socket: LiveSocket): Promise<void> {
    while (!state.draining && socket.readyState === WebSocket.OPEN) {
      const text = socket.queue?.shift();
      if (text === undefined) break;
      await takeFrame(ctx, socket, text);
    }
    socket.queue = undefined;
    socket.work = undefined;
    socket.resume();
  }

  function receive(socket: LiveSocket, data: RawData, isBinary: boolean): void {
    socket.missedPings = 0;
    if (state.draining || socket.readyState !== WebSocket.OPEN) return;
    if (isBinary) {
      socket.refuseFrame('BINARY_FRAME', 'Frames are text.');
      return;
    }
    const queue = (socket.queue ??= []);
    if (isFlood(socket) || queue.length >= maxQueued) {
      const message = `Too many frames: ${framesPerMinute} are taken in a minute; connect again in a minute.`;
      socket.refuse(new Problem('RATE_LIMITED', { message }));
      return;
    }
    queue.push((data as Buffer).toString('utf8'));
    if (socket.work) socket.pause();
    else socket.work = work(socket);
  }

  return { work, receive };
}

/** Counts a frame; returns whether the socket exceeded its frames of this minute. */
function isFlood(socket: LiveSocket): boolean {
  const now = performance.now();
  if (now - socket.countedFrom >= 60_000) {
    socket.countedFrom = now;
    socket.frames = 0;
  }
  socket.frames += 1;
  return socket.frames > framesPerMinute;
}
