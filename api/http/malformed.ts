/**
 * Answers requests that Node's parser refuses, which never reach a route, with the usual error envelope. If another
 * reply has begun on the connection, the connection is closed instead, because the error would end up inside that
 * reply.
 */
import { maxHeaderSize, STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { errorBody } from './errors.ts';
import { newId } from '../../models/base/ids.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export function refuseUnreadable(server: Server, log: Logger): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (request, response) => answers.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Later input of the same connection is unreadable too, and the first reply may still be in flight.
    if (refused.has(socket)) return;
    const answer = answers.get(socket);
    const begun = answer?.headersSent === true && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || begun) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const problem = problemOf(error);
    const requestId = newId('request');
    const body = JSON.stringify(errorBody(problem, requestId));
    // The error itself is not logged: it contains the raw request with its credentials.
    const { status, code } = problem;
    log.info({ request_id: requestId, status, code, reason: error.code }, 'unreadable request');
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      `x-request-id: ${requestId}`,
      'x-content-type-options: nosniff',
      'cache-control: no-store',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
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
