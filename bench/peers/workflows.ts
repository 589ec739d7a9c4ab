/**
 * The worker that runs the workflow of bare.ts for the `delivery` benchmark, configured like the workers of this
 * system.
 */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('bare.ts', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
const worker = await Worker.create({
  connection,
  taskQueue: 'bare',
  workflowBundle,
  activities: { nothing: async () => undefined },
  maxConcurrentActivityTaskExecutions: 40,
  maxConcurrentWorkflowTaskExecutions: 20,
});
const running = worker.run();
process.send?.({ type: 'ready', url: '' });
process.on('SIGTERM', () => {
  worker.shutdown();
  void running.then(() => connection.close()).then(() => process.exit(0));
});
