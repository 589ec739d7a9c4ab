/** Refuses an upgrade before the WebSocket handshake, which is cheapest. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '../http/errors.ts';
import { newId } from '../../models/base/ids.ts';
import type { Problem } from '../../models/rules/base/errors.ts';

/** Replies with the problem's status and the error envelope, and ends the connection. */
export function refuseUpgrade(raw: Duplex, problem: Problem): void {
  const requestId = newId('request');
  const body = JSON.stringify(errorBody(problem, requestId));
  raw.on('error', () => raw.destroy());
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  raw.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => raw.destroy());
}
