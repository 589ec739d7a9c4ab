/**
 * The deployment that an operator's commands work on: its configuration, its database and its Temporal. Whoever has the
 * deployment's configuration with `SECRET_KEY` is an operator. An organization's API key does not give access.
 */
import { userInfo } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { CliError } from '../errors.ts';
import { ConfigError, readConfig, type Config } from '../../config.ts';
import { embeddedMongodbUri, embeddedTemporalAddress } from '../../engines/system.ts';
import { listSigningKeys, privateJwkPlace } from '../../models/access/signingkey.ts';
import { listOperations, recorded, type Operation } from '../../models/base/operation.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { linkMs, loginOf } from '../../models/base/operatorlogin.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { encryptionOf } from '../../workflows/encryption.ts';
import { connectionTo } from '../../workflows/start.ts';

export { listOperations };

type Env = Record<string, string | undefined>;

export type Deployment = { config: Config; temporal: Client; connection: Connection; by: string };

/** Runs `act` while connected to the database of the server that this environment configures. @throws CliError */
export async function onDatabase<T>(env: Env, act: (config: Config) => Promise<T>): Promise<T> {
  const config = configOf(env);
  const uri = config.mongodbUri ?? (await embeddedMongodbUri(config.dataDir));
  if (uri === undefined) throw new CliError(where('MONGODB_URI'), { code: 'NO_DATABASE' });
  await connectMongo(uri).catch((error: Error) => {
    throw new CliError(error.message, { code: 'NO_DATABASE', cause: error });
  });
  try {
    return await act(config);
  } finally {
    await disconnectMongo();
  }
}

/**
 * Runs a command while connected to the deployment's database and Temporal, and records who ran it and its outcome: the
 * result's `said`, or `done` without one. @throws CliError
 */
export async function onDeployment<T extends object>(
  env: Env,
  { command, target }: Pick<Operation, 'command' | 'target'>,
  act: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  return onDatabase(env, async (config) => {
    if (!(await opensSecrets(config)))
      throw new CliError('SECRET_KEY is not the key of this deployment. Set the one that its processes have.', {
        code: 'NOT_OPERATOR',
      });
    const address = config.temporalAddress ?? (await embeddedTemporalAddress(config.dataDir));
    if (address === undefined) throw new CliError(where('TEMPORAL_ADDRESS'), { code: 'NO_TEMPORAL' });
    const connection = await Connection.connect({
      ...connectionTo(address, config),
      connectTimeout: '5 seconds',
    }).catch((cause: unknown) => {
      throw new CliError(`Temporal does not answer at ${address}. Start it, or set TEMPORAL_ADDRESS.`, {
        code: 'NO_TEMPORAL',
        cause,
      });
    });
    try {
      const temporal = new Client({ connection, namespace: config.temporalNamespace, ...encryptionOf(config) });
      const by = userInfo().username;
      return await recorded(
        { at: new Date(), by, command, ...defined({ target }) },
        () => act({ config, temporal, connection, by }),
        (done) => ('said' in done ? String(done.said) : 'done'),
      );
    } finally {
      await connection.close();
    }
  });
}

/**
 * The link by which an operator's browser signs in at the codec endpoint, which decrypts workflow data for Temporal's
 * UI.
 */
export function loginLink({ config: { publicUrl, secretKeys } }: Deployment, now: Date): string {
  const proof = loginOf(createSecretBox(secretKeys), 'link', new Date(now.getTime() + linkMs));
  return `${publicUrl}/codec/login?proof=${encodeURIComponent(proof)}`;
}

/** Whether the configured keys decrypt the deployment's signing key. Also true when there is no signing key yet. */
export async function opensSecrets({ secretKeys }: Config): Promise<boolean> {
  const secrets = createSecretBox(secretKeys);
  const [newest] = await listSigningKeys();
  if (!newest) return true;
  try {
    secrets.open(newest.private_jwk, privateJwkPlace(newest._id));
    return true;
  } catch {
    return false;
  }
}

const where = (variable: string): string =>
  `Run this where the server runs: set ${variable}, or DATA_DIR to the folder of \`npm start\`.`;

function configOf(env: Env): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(error.message, { code: 'NO_DATABASE', cause: error });
  }
}
