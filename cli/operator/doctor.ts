/** `npm run doctor`: checks a deployment from one of its machines, and says in a sentence what to repair and how. */
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import mongoose from 'mongoose';
import { opensSecrets } from './deployment.ts';
import { createMailer } from '../../providers/mail/client.ts';
import { ConfigError, readConfig, type Config } from '../../config.ts';
import { embeddedMongodbUri, embeddedTemporalAddress } from '../../engines/system.ts';
import { checkEmbedding } from '../../engines/embedding/embedding.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { askRedis } from '../../models/base/redis.ts';
import { queues } from '../../models/rules/base/work.ts';
import { maintainStoresWork } from '../../models/rules/knowledge/work.ts';
import { searchAttributes } from '../../workflows/attributes.ts';
import { connectionTo, isUnknown } from '../../workflows/start.ts';

/**
 * `wrong`: something does not work. `warning`: the checked part works, but not for everybody or not for much longer.
 */
export type Finding = { check: string; state: 'ok' | 'warning' | 'wrong'; said: string; mend?: string };
type Env = Record<string, string | undefined>;

const ok = (check: string, said: string): Finding => ({ check, state: 'ok', said });
const wrong = (check: string, said: string, mend: string): Finding => ({ check, state: 'wrong', said, mend });
const warning = (check: string, said: string, mend: string): Finding => ({ check, state: 'warning', said, mend });

/** If clocks differ by more than this, in ms, logins and signed requests of other services are refused. */
const clockSkewMs = 5_000;
/** A worker polls at least once a minute. One that has not polled for this many ms counts as gone. */
const pollMs = 70_000;
const leastFreeBytes = 2 * 1024 ** 3;
const leastTemporal = [1, 29];
const { TASK_QUEUE_TYPE_ACTIVITY: activityQueue } = proto.temporal.api.enums.v1.TaskQueueType;

/** All findings, in the order in which they should be repaired. */
export async function examine(env: Env, now: () => Date): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [wrong('configuration', error.message, 'Correct the variable; docs/configuration.md has them all.')];
  }
  return [
    ok('configuration', 'Every variable is well formed.'),
    ...(await database(config, now)),
    ...(await redis(config)),
    ...(await temporal(config, now)),
    ...(await disk(config)),
    await index(config),
    await api(config),
    ...(await models(config)),
    ...(await mail(config)),
  ];
}

async function database(config: Config, now: () => Date): Promise<Finding[]> {
  const uri = config.mongodbUri ?? (await embeddedMongodbUri(config.dataDir));
  if (uri === undefined)
    return [
      wrong('MongoDB', 'No database is configured.', 'Set MONGODB_URI, or DATA_DIR to the folder of `npm start`.'),
    ];
  try {
    await connectMongo(uri, { selectionMs: 5_000 });
  } catch (error) {
    return [
      wrong('MongoDB', (error as Error).message, 'Start MongoDB, or correct MONGODB_URI and the network between.'),
    ];
  }
  try {
    const admin = mongoose.connection.db!.admin();
    const asked = now().getTime();
    const { localTime, setName } = (await admin.command({ hello: 1 })) as { localTime: Date; setName?: string };
    const skew = Math.abs(localTime.getTime() - asked);
    const { version } = (await admin.buildInfo()) as { version: string };
    const secret = await opensSecrets(config);
    return [
      setName === undefined
        ? wrong('MongoDB', `MongoDB ${version} is no replica set.`, 'Start it with --replSet; transactions need one.')
        : ok('MongoDB', `MongoDB ${version} answers as replica set ${setName}.`),
      skew > clockSkewMs
        ? warning(
            'clock',
            `This clock and MongoDB's differ by ${Math.round(skew / 1000)} s.`,
            'Set up NTP on both machines.',
          )
        : ok('clock', `This clock and MongoDB's agree within ${clockSkewMs / 1000} s.`),
      secret
        ? ok('secret', 'SECRET_KEY opens what is stored.')
        : wrong(
            'secret',
            'SECRET_KEY does not open what is stored.',
            'Set the key that all processes have. After a change of it: docs/operating.md, "Changing the secret key".',
          ),
    ];
  } finally {
    await disconnectMongo();
  }
}

async function redis({ redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === undefined) return [];
  try {
    return [ok('Redis', `It answers as ${await askRedis(redisUrl)}.`)];
  } catch (error) {
    return [
      warning(
        'Redis',
        `It does not answer (${(error as Error).message}): frames come late, and each process counts limits by itself.`,
        'Start it, or correct REDIS_URL.',
      ),
    ];
  }
}

async function temporal(config: Config, now: () => Date): Promise<Finding[]> {
  const address = config.temporalAddress ?? (await embeddedTemporalAddress(config.dataDir));
  if (address === undefined)
    return [
      wrong(
        'Temporal',
        'No Temporal is configured.',
        'Set TEMPORAL_ADDRESS, or DATA_DIR to the folder of `npm start`.',
      ),
    ];
  const lazy = Connection.lazy(connectionTo(address, config));
  const namespace = config.temporalNamespace;
  try {
    const { serverVersion } = await lazy.withDeadline(Date.now() + 5_000, () => lazy.workflowService.getSystemInfo({}));
    const known = await lazy
      .withDeadline(Date.now() + 5_000, () => lazy.workflowService.describeNamespace({ namespace }))
      .catch(() => undefined);
    if (!known)
      return [
        wrong('Temporal', `It has no namespace ${namespace}.`, `temporal operator namespace create ${namespace}`),
      ];
    const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
    const old = major < leastTemporal[0]! || (major === leastTemporal[0] && minor < leastTemporal[1]!);
    return [
      old
        ? warning(
            'Temporal',
            `Version ${serverVersion} is older than 1.29.`,
            'Update the server; older ones are not tried.',
          )
        : ok('Temporal', `Version ${serverVersion} answers, with the namespace ${namespace}.`),
      await attributes(lazy, namespace),
      await schedule(lazy, namespace, config.taskQueuePrefix),
      ...(await fleets(lazy, namespace, config.taskQueuePrefix, now)),
    ];
  } catch (error) {
    return [
      wrong(
        'Temporal',
        `It does not answer at ${address}: ${(error as Error).message}`,
        'Start it, or correct TEMPORAL_ADDRESS.',
      ),
    ];
  } finally {
    await lazy.close();
  }
}

async function attributes(connection: Connection, namespace: string): Promise<Finding> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes).filter(({ name }) => !(name in customAttributes));
  if (missing.length === 0) return ok('search attributes', 'Temporal knows all of them.');
  const names = missing.map(({ name }) => name).join(', ');
  return wrong(
    'search attributes',
    `Temporal lacks ${names}.`,
    'Start a worker with the right to add them; it says how to do it by hand.',
  );
}

/** Reads the schedule without a codec, because a former secret key may have encrypted its summary. */
async function schedule(connection: Connection, namespace: string, prefix: string): Promise<Finding> {
  const id = `${prefix}${maintainStoresWork().id}`;
  try {
    const { schedule: found } = await connection.workflowService.describeSchedule({ namespace, scheduleId: id });
    return found?.state?.paused
      ? warning(
          'schedules',
          `${id} is paused, so the index is not maintained.`,
          `temporal schedule toggle --unpause --schedule-id ${id}`,
        )
      : ok('schedules', `${id} runs each hour.`);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    return wrong('schedules', `There is no schedule ${id}.`, 'Start a worker of the fleet maintenance; it creates it.');
  }
}

/** A finding for each fleet whose queue no worker polls, according to Temporal; `ok` when all are polled. */
async function fleets(connection: Connection, namespace: string, prefix: string, now: () => Date): Promise<Finding[]> {
  const names = Object.values(queues);
  const polled = await Promise.all(
    names.map(async (name) => {
      const { pollers } = await connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: `${prefix}${name}` },
        taskQueueType: activityQueue,
      });
      const since = now().getTime() - pollMs;
      return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > since);
    }),
  );
  const idle = names.filter((_, at) => !polled[at]);
  if (idle.length === 0) return [ok('fleets', `All ${names.length} fleets are polled by workers.`)];
  return idle.map((name) =>
    wrong(
      'fleets',
      `No worker polls the fleet ${name}; its work waits.`,
      `Start one: npm run worker -- --fleet ${name}`,
    ),
  );
}

async function disk({ dataDir, searchUri }: Config): Promise<Finding[]> {
  const local = searchUri.includes('://') ? [] : [searchUri];
  return Promise.all(
    [...new Set([dataDir, ...local])].map(async (folder) => {
      try {
        const { bavail, bsize } = await statfs(folder);
        const free = bavail * bsize;
        const said = `${(free / 1024 ** 3).toFixed(1)} GiB are free in ${folder}.`;
        return free < leastFreeBytes
          ? warning('disk', said, 'Free some space, or move it to a larger disk.')
          : ok('disk', said);
      } catch {
        return warning(
          'disk',
          `${folder} is not there.`,
          'It is made by the first process that needs it; see that DATA_DIR and SEARCH_URI are those of the deployment.',
        );
      }
    }),
  );
}

async function index({ searchUri, s3 }: Config): Promise<Finding> {
  try {
    const { createSearchReader } = await import('../../clients/knowledge/search/reader.ts');
    const search = createSearchReader({ uri: searchUri, s3 });
    const { length } = await search.listTables().finally(() => search.close());
    return ok('index', `It can be read: ${length} tables.`);
  } catch (error) {
    const mend = 'Correct SEARCH_URI or the rights. An index that is lost is built again within the hour.';
    return wrong('index', `${searchUri}: ${(error as Error).message.slice(0, 200)}`, mend);
  }
}

async function api({ publicUrl }: Config): Promise<Finding> {
  const mend = 'Start an API process, or set PUBLIC_URL to the address at which customers reach it.';
  try {
    const response = await fetch(`${publicUrl}/health/ready`, { signal: AbortSignal.timeout(5_000) });
    const said = `${publicUrl}/health/ready answers ${response.status}.`;
    return response.ok ? ok('API', said) : wrong('API', said, mend);
  } catch {
    return wrong('API', `Nothing answers at ${publicUrl}.`, mend);
  }
}

async function models({ embedding, openai }: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  // The same conditions as in `createAi` and `createEndpointVectors`: a model needs its name and an endpoint.
  const endpoint = openai.baseUrl !== undefined || openai.apiKey !== undefined;
  const makesVectors = endpoint && openai.embeddingModel !== undefined;
  if (embedding.state === 'off')
    findings.push(
      makesVectors
        ? ok('embedding', 'It is off; OPENAI_EMBEDDING_MODEL makes the vectors.')
        : warning(
            'embedding',
            'It is off: questions find passages by their words alone, and half of what is then answered is wrong.',
            'Remove EMBEDDING=off.',
          ),
    );
  else if (embedding.urls.length > 0) findings.push(...(await Promise.all(embedding.urls.map(embeddingService))));
  else if (!makesVectors)
    findings.push(
      await checkEmbedding(embedding.folder).then(
        () => ok('embedding', 'The embedding models are there and whole.'),
        (error: Error) => warning('embedding', error.message, 'See docs/operating.md, "Embedding".'),
      ),
    );
  if (!endpoint) findings.push(ok('model', 'No language model is configured; answers are quoted from the documents.'));
  else if (openai.model === undefined && !makesVectors)
    findings.push(
      warning(
        'model',
        'OPENAI_MODEL is not set, so no model answers; answers are quoted from the documents.',
        'Set OPENAI_MODEL, or remove OPENAI_BASE_URL and OPENAI_API_KEY.',
      ),
    );
  else findings.push(await languageModel(openai));
  return findings;
}

async function embeddingService(url: string): Promise<Finding> {
  const answers = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  );
  return answers
    ? ok('embedding', `The embedding service at ${url} answers.`)
    : warning('embedding', `No embedding service answers at ${url}.`, 'Start it, or correct EMBEDDING.');
}

async function languageModel({
  baseUrl = 'https://api.openai.com/v1',
  apiKey,
  model,
}: Config['openai']): Promise<Finding> {
  const mend = 'Correct OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL. Answers are quoted meanwhile.';
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/models`, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) return wrong('model', `${baseUrl} answers ${response.status}.`, mend);
    if (model === undefined)
      return ok('model', `${baseUrl} answers, but OPENAI_MODEL is not set: answers are quoted from the documents.`);
    const { data = [] } = (await response.json()) as { data?: { id: string }[] };
    return data.length === 0 || data.some(({ id }) => id === model)
      ? ok('model', `${baseUrl} answers.`)
      : wrong('model', `${baseUrl} has no model ${model}.`, mend);
  } catch (error) {
    return wrong('model', `${baseUrl} does not answer: ${(error as Error).message}.`, mend);
  }
}

async function mail({ mail: { server }, egressAllow }: Config): Promise<Finding[]> {
  if (!server) return [ok('mail', 'No mail server is configured; nobody is mailed.')];
  try {
    await Promise.race([
      createMailer({ egressAllow }).check({ server, own: true }),
      sleep(15_000, undefined, { ref: false }).then(() => {
        throw new Error('It did not answer within 15 s.');
      }),
    ]);
    return [ok('mail', `${server.host} takes the login.`)];
  } catch (error) {
    return [wrong('mail', `${server.host}: ${(error as Error).message}`, 'Correct SMTP_URL, or the server.')];
  }
}
