/**
 * `npm run cluster`: runs the production shape on this machine, without containers. Its data are in `DATA_DIR/cluster`,
 * its balancer listens on PORT of 127.0.0.1. It is for trying out what happens when a service dies; a deployment uses
 * docker-compose.yml.
 */
import { join, resolve } from 'node:path';
import { readConfig } from '../../config.ts';
import { EngineError } from '../cache.ts';
import { demoOrganization } from '../demo.ts';
import { isFree } from '../ports.ts';
import { onStopSignals, sentence } from '../start.ts';
import { startCluster, type Cluster } from './cluster.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  process.stdout.on('error', () => undefined);
  const stopAsked = Promise.withResolvers<void>();
  let cluster: Cluster | undefined;
  onStopSignals(
    () => stopAsked.resolve(),
    () => {
      cluster?.killAll();
      process.exit(130);
    },
  );
  try {
    const config = readConfig(process.env);
    const dataDir = join(resolve(config.dataDir), 'cluster');
    if (!(await isFree(config.port)))
      throw new EngineError(`Port ${config.port} is taken. Choose another: PORT=${config.port + 1} npm run cluster`);
    const starting = startCluster({ dataDir, port: config.port, env: process.env, report: print });
    // The cluster's processes end with this process, so a stop during the start needs no further step.
    cluster = await Promise.race([starting, stopAsked.promise.then(() => undefined)]);
    if (cluster === undefined) return 0;
    const demo = await demoOrganization(cluster.url, dataDir, { help: true });
    print(`
  API            ${cluster.url}/v1, through the balancer
  Team page      ${cluster.url}/app
  Chat widget    ${cluster.url}/demo?key=${demo.publishable_key}
  Login          ${demo.email}, password ${demo.password}
  Temporal       ${cluster.temporalAddress}, through the balancer
  MongoDB        ${cluster.mongodbUri}
  Services       ${cluster.services.join(', ')}
  Logs           ${cluster.logDir}

  Kill any of its processes: it is started again. Ctrl-C stops all; the data stay.
ready ${cluster.url}/v1`);
    const failure = await Promise.race([cluster.failed, stopAsked.promise.then(() => undefined)]);
    print(failure === undefined ? 'stopping: requests and work in hand are finished first' : failure.message);
    await cluster.stop();
    return failure === undefined ? 0 : 1;
  } catch (error) {
    await cluster?.stop();
    print(sentence(error));
    return 1;
  }
}

process.exit(await main());
