/** What a socket's client sends: bounded in number, queued, and taken one frame after the other. */
import { WebSocket, type RawData } from 'ws';
import { takeFrame } from './frames.ts';
import type { LiveSocket } from './socket.ts';
import type { Context } from '../context.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Of any type, a socket and minute; a slice limits by itself what costs more. */
const framesPerMinute = 300;
/** Frames that arrived in one piece while another was being taken. */
const maxQueued = 100;

/** `state.draining`: what was not begun is left; the client repeats it elsewhere. */
export function createIntake(ctx: Pick<Context, 'log'>, state: Readonly<{ draining: boolean }>) {
  /** Takes what is queued, one frame after the other. Never rejects. */
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

/** Counts a frame; whether there were too many in this minute. */
function isFlood(socket: LiveSocket): boolean {
  const now = performance.now();
  if (now - socket.countedFrom >= 60_000) {
    socket.countedFrom = now;
    socket.frames = 0;
  }
  socket.frames += 1;
  return socket.frames > framesPerMinute;
}
