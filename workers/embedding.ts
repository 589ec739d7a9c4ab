/**
 * An embedding service: a process that runs the embedding models for the processes whose `EMBEDDING` has its URL. It
 * reads the models from the folder that its own `EMBEDDING` names, otherwise from the cache. It listens on HOST and
 * PORT, needs neither MongoDB nor Temporal, and ends on SIGTERM.
 */
import { startEmbeddingService } from '../clients/embedding/service.ts';
import { obtainModels } from '../clients/embedding/obtain.ts';
import { createLog } from '../api/http/log.ts';
import { runProgram } from '../api/http/program.ts';
import { readConfig } from '../config.ts';

await runProgram(async () => {
  const config = readConfig(process.env);
  const log = createLog('embedding', config.logLevel);
  const folder = await obtainModels(config.embedding.folder, (line) => log.info(line), new AbortController().signal);
  const service = await startEmbeddingService({ folder, host: config.host, port: config.port });
  log.info({ url: service.url }, 'embedding ready');
  return service;
});
