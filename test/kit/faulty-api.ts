/** The API program, except that it dies (SIGKILL) between saving a record and starting its workflow. */
import { startApi } from '../../api/server.ts';
import { readConfig } from '../../config.ts';

const api = await startApi(readConfig(process.env), (ctx) => ({
  ...ctx,
  temporal: new Proxy(ctx.temporal, {
    get: (target, name, receiver) =>
      name === 'withDeadline' ? () => process.kill(process.pid, 'SIGKILL') : Reflect.get(target, name, receiver),
  }),
}));
process.send?.({ type: 'ready', url: api.url });
