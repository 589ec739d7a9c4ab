/**
 * Reads and checks a client's frame and passes it to the `take` function of the socket's stream kind. The only replies
 * that this file sends are errors about the frame.
 */
import { inSpan } from '../../clients/base/tracing.ts';
import { closeCodeOf, type LiveSocket } from './socket.ts';
import type { Context } from '../context.ts';
import { countRefusal, toProblem } from '../http/errors.ts';
import { check } from '../http/faults.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Handles one frame of an open socket. Never rejects: errors are sent to the socket. */
export async function takeFrame<C>({ log }: Pick<Context, 'log'>, socket: LiveSocket<C>, text: string): Promise<void> {
  const { kind, client } = socket;
  if (!kind || client === undefined) return;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    socket.refuseFrame('MALFORMED_JSON', 'A frame is a JSON object with a `type`.');
    return;
  }
  const { type: asked, client_message_id: id } = (given ?? {}) as { type?: unknown; client_message_id?: unknown };
  const type = kind.frame.options.find(({ shape }) => shape.type.value === asked)?.shape.type.value;
  if (type === undefined) {
    socket.refuseFrame('UNKNOWN_TYPE', 'The `type` of this frame is not one that clients send.');
    return;
  }
  kind.metrics.received.inc({ type });
  try {
    const checked = check(kind.frame, given, 'frame');
    // An `error` frame has no details, so it names only the first fault.
    if ('faults' in checked) throw new Problem('VALIDATION', { details: checked.faults.details.slice(0, 1) });
    await inSpan(`frame ${type}`, { kind: 'server' }, () => kind.take(socket, client, checked.value));
  } catch (error) {
    const problem = toProblem(error);
    countRefusal(problem);
    if (problem.status >= 500) log.error({ err: problem.cause, stream: socket.stream }, 'a frame failed');
    socket.complain(problem, { refused: type, ...(typeof id === 'string' ? { client_message_id: id } : {}) });
    if (problem.code === 'RATE_LIMITED' || problem.code === 'NOT_FOUND')
      socket.close(closeCodeOf(problem), problem.code);
  }
}
