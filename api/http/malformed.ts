/** Answers requests that never reach a route: writes the usual error body directly to their sockets. */
import { maxHeaderSize, STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { errorBody } from './errors.ts';
import { newId } from '../../models/base/ids.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * Answers requests that Node's parser refuses. If another reply has begun on the connection, the connection is closed
 * instead, because the error would end up inside that reply.
 */
export function refuseUnreadable(server: Server, log: Logger): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (request, response) => answers.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // This connection was refused before. Its later input is unreadable too, and the first reply may still be in
    // flight, so nothing more is sent.
    if (refused.has(socket)) return;
    const answer = answers.get(socket);
    const begun = answer?.headersSent === true && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || begun) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const problem = problemOf(error);
    const requestId = refuseRaw(socket, problem);
    // The error itself is not logged: it contains the raw request with its credentials.
    const { status, code } = problem;
    log.info({ request_id: requestId, status, code, reason: error.code }, 'unreadable request');
  });
}

/**
 * Replies with a problem on a socket that has no response, such as before a WebSocket handshake. Ends the connection,
 * and returns the request id of the reply.
 */
export function refuseRaw(socket: Duplex, problem: Problem): string {
  const requestId = newId('request');
  const body = JSON.stringify(errorBody(problem, requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  // Node's HTTP server no longer handles the errors of an upgraded socket, so they are handled here.
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  return requestId;
}

/** The problem for an error code of Node's HTTP parser. */
function problemOf(error: NodeJS.ErrnoException): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const message = `The address and the headers together may have ${maxHeaderSize} bytes; shorten them.`;
    return new Problem('HEADERS_TOO_LARGE', { message });
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('REQUEST_TIMEOUT');
  return new Problem('VALIDATION', { message: 'This is not a well-formed HTTP request.' });
}
