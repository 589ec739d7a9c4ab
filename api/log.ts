/** Logs: one JSON line an event on standard output, secrets redacted wherever a field is named like one. */
import { pino, type DestinationStream, type Logger } from 'pino';

const secretFields = [
  'authorization',
  'cookie',
  'password',
  'password_hash',
  'token',
  'access_token',
  'client_secret',
  'secret',
  'apiKey',
  'api_key',
  'outbox_webhook_secret',
  'private_jwk',
];

/** `name` is the kind of process: `api`, `worker`. */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`, `err.config.headers.${field}`]);
  const options = { name, level, redact: { paths, censor: '[redacted]' }, timestamp: pino.stdTimeFunctions.isoTime };
  return destination ? pino(options, destination) : pino(options);
}
