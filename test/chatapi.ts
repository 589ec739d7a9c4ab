/**
 * The API program with a clock that its test moves (it is as many milliseconds ahead as the last message says), and which
 * pings its sockets every PING_EVERY_MS.
 */
import { startApi } from '../api/server.ts';
import { readConfig } from '../config.ts';

let ahead = 0;
process.on('message', (message: { ahead?: number }) => {
  ahead = message.ahead ?? 0;
});
const pingEveryMs = Number(process.env['PING_EVERY_MS'] ?? 30_000);
const api = await startApi(readConfig(process.env), (ctx) => ({ ...ctx, clock: () => new Date(Date.now() + ahead) }), {
  pingEveryMs,
});
for (const event of ['SIGTERM', 'disconnect'] as const) {
  process.on(event, () => void api.close().then(() => process.exit(0)));
}
process.send?.({ type: 'ready', url: api.url });
