/**
 * `npm run worker -- --replay`: replays the histories of open workflows with this version's code, before this version
 * takes work. So a code change with which open workflows could not continue is found before it affects customers.
 */
import { Client, Connection } from '@temporalio/client';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflows } from './bundle.ts';
import { ConfigError, type Config } from '../config.ts';
import { kinds } from '../workflows/base/kinds.ts';
import { encryptionOf } from '../workflows/encryption.ts';
import { connectionTo } from '../workflows/start.ts';

/** For each kind of workflow, at most this many open ones are replayed: the newest. */
const most = 100;

/**
 * `bundle`: a prebuilt bundle. Prints the workflows that cannot be replayed. Returns the exit code: 1 when there are
 * any.
 */
export async function replayOpen(
  config: Pick<
    Config,
    | 'temporalAddress'
    | 'temporalAccess'
    | 'temporalNamespace'
    | 'taskQueuePrefix'
    | 'dataDir'
    | 'encryptsPayloads'
    | 'secretKeys'
  >,
  bundle?: WorkflowBundleOption,
): Promise<number> {
  if (config.temporalAddress === undefined) throw new ConfigError('TEMPORAL_ADDRESS is not set.');
  const encryption = encryptionOf(config);
  const workflowBundle = bundle ?? (await bundleWorkflows(config.dataDir, { encrypted: config.encryptsPayloads }));
  const connection = await Connection.connect(connectionTo(config.temporalAddress, config));
  const { workflow } = new Client({ connection, namespace: config.temporalNamespace, ...encryption });
  let replayed = 0;
  let failed = 0;
  for (const type of Object.keys(kinds)) {
    const query = `\`WorkflowType\` = "${type}" AND \`ExecutionStatus\` = "Running" AND \`TaskQueue\` STARTS_WITH "${config.taskQueuePrefix}"`;
    const open = [];
    for await (const info of workflow.list({ query, pageSize: most })) if (open.push(info) === most) break;
    const histories = open.map(async ({ workflowId, runId }) => ({
      workflowId,
      history: await workflow.getHandle(workflowId, runId).fetchHistory(),
    }));
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { workflowBundle, ...encryption, replayName: type },
      await Promise.all(histories),
    )) {
      replayed += 1;
      if (!error) continue;
      failed += 1;
      process.stdout.write(`${workflowId} does not go on with this version: ${error.message}\n`);
    }
  }
  await connection.close();
  process.stdout.write(`${replayed} open workflows replayed, ${failed} of them do not go on.\n`);
  return failed > 0 ? 1 : 0;
}
