/**
 * `npm run cluster`: runs the services of docker-compose.yml on this machine, without containers. Its data are in
 * `DATA_DIR/cluster`, its balancer listens on PORT of 127.0.0.1. It is for trying out what happens when a service dies;
 * a deployment uses docker-compose.yml.
 */
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { readConfig } from '../../config.ts';
import { EngineError } from '../cache.ts';
import { demoOrganization } from '../demo.ts';
import { isFree } from '../ports.ts';
import { inForeground, print } from '../start.ts';
import { startCluster } from './cluster.ts';

async function start(aborted: AbortSignal) {
  const config = readConfig(process.env);
  const dataDir = join(resolve(config.dataDir), 'cluster');
  if (!(await isFree(config.port)))
    throw new EngineError(`Port ${config.port} is taken. Choose another: PORT=${config.port + 1} npm run cluster`);
  aborted.throwIfAborted();
  // The cluster's processes end with this process, so a stop during the start needs no further step.
  const stopped = once(aborted, 'abort').then((): never => {
    throw new EngineError('Stopped while starting.');
  });
  const starting = startCluster({ dataDir, port: config.port, env: process.env, report: print });
  const cluster = await Promise.race([starting, stopped]);
  return {
    ...cluster,
    async screen() {
      const demo = await demoOrganization(cluster.url, dataDir, { help: true });
      return `
  API            ${cluster.url}/v1, through the balancer
  Team page      ${cluster.url}/app
  Chat widget    ${cluster.url}/demo?key=${demo.publishable_key}
  Login          ${demo.email}, password ${demo.password}
  Temporal       ${cluster.temporalAddress}, through the balancer
  MongoDB        ${cluster.mongodbUri}
  Services       ${cluster.services.join(', ')}
  Logs           ${cluster.logDir}

  Kill any of its processes: it is started again. Ctrl-C stops all; the data stay.
ready ${cluster.url}/v1`;
    },
  };
}

process.exit(await inForeground(start));
