/**
 * What operators do on the machine of the server, with the database and not with the API: a link to a new password for
 * somebody who cannot be mailed. Whoever can run this can read the database anyway.
 */
import { randomBytes } from 'node:crypto';
import { CliError } from './errors.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { embeddedMongodbUri } from '../engines/system.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { hashToken } from '../models/access/key.ts';
import { addProof, findUserByEmail } from '../models/access/user.ts';
import { linkOf, proofMs } from '../models/rules/access/account.ts';
import { normalizeEmail } from '../models/rules/access/email.ts';

/** A link for the account of this address, good once for half an hour. @throws CliError */
export async function passwordLink(
  env: Record<string, string | undefined>,
  given: string,
  now: Date,
): Promise<{ email: string; link: string; expires_at: string }> {
  const config = configOf(env);
  const uri = config.mongodbUri ?? (await embeddedMongodbUri(config.dataDir));
  if (uri === undefined) {
    const message = 'Run this where the server runs: set MONGODB_URI, or DATA_DIR to the folder of `npm start`.';
    throw new CliError(message, { code: 'NO_DATABASE' });
  }
  await connectMongo(uri).catch((error: Error) => {
    throw new CliError(error.message, { code: 'NO_DATABASE', cause: error });
  });
  try {
    const email = normalizeEmail(given);
    const user = await findUserByEmail(email);
    const token = randomBytes(32).toString('base64url');
    const expires_at = new Date(now.getTime() + proofMs);
    // It proves no address: it is handed over in some other way than by a mail there.
    const proof = { kind: 'password_reset', hash: hashToken(token), expires_at } as const;
    if (!user || !(await addProof(user._id, email, proof)))
      throw new CliError('There is no account with this e-mail.', { code: 'NOT_FOUND' });
    return { email, link: linkOf(config.publicUrl, 'password_reset', token), expires_at: expires_at.toISOString() };
  } finally {
    await disconnectMongo();
  }
}

function configOf(env: Record<string, string | undefined>): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(error.message, { code: 'NO_DATABASE', cause: error });
  }
}
