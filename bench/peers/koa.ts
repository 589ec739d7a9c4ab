/**
 * The server that the `http` benchmark compares this system's API with: bare Koa with one findOne of the MongoDB driver
 * by key, and JSON.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { MongoClient } from 'mongodb';

const client = await MongoClient.connect(process.env['MONGODB_URI']!);
const documents = client.db().collection<{ _id: string }>('documents');
const app = new Koa();
app.use(async (ctx) => {
  const found = await documents.findOne({ _id: ctx.path.slice(ctx.path.lastIndexOf('/') + 1) });
  // Without a body the response is 404, which fails the benchmark.
  if (found) ctx.body = found;
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void client.close().then(() => process.exit(0));
});
