/** Logs one JSON line per event to standard output. Fields that may hold a secret are redacted, by their names. */
import { traceId } from '../../clients/base/tracing.ts';
import { defined } from '../../models/rules/base/defined.ts';
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

const mixin = (): { trace_id?: string } => defined({ trace_id: traceId() });

/** `name`: the kind of process, `api` or `worker`. */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`, `err.config.headers.${field}`]);
  const options = {
    name,
    level,
    redact: { paths, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin,
  };
  // Lines are buffered for up to 100 ms, because a system call per line takes a tenth of a request's time. An orderly
  // stop of the process writes the lines that are still buffered.
  const gathered = () => pino.destination({ sync: false, minLength: 4096, periodicFlush: 100 });
  return pino(options, destination ?? gathered());
}
