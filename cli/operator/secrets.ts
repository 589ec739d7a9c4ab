/**
 * Commands for operators on the server's machine: a password link for a person who cannot receive mail, and a change of
 * the secret key. They use the database directly. Anyone who can run them can read the database anyway.
 */
import { randomBytes } from 'node:crypto';
import { CliError } from '../errors.ts';
import { onDatabase } from './deployment.ts';
import { errandSeals } from '../../models/base/errand.ts';
import { idempotencySeals } from '../../models/base/idempotency.ts';
import { oneTimeStateSeals } from '../../models/base/onetimestate.ts';
import { resealRecords, type Resealed, type SealedRecords } from '../../models/base/reseal.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { embedSecretSeals } from '../../models/access/embedsecret.ts';
import { hashToken } from '../../models/access/key.ts';
import { signingKeySeals } from '../../models/access/signingkey.ts';
import { addProof, findUserByEmail } from '../../models/access/user.ts';
import { integrationSeals } from '../../models/integrations/integration.ts';
import { releaseSeals } from '../../models/integrations/release.ts';
import { orgWebhookSeals } from '../../models/events/orgwebhook.ts';
import { roomSeals } from '../../models/interviews/room.ts';
import { supportConfigSeals } from '../../models/integrations/supportconfig.ts';
import { resignAudits } from '../../models/mcp/audit.ts';
import { toolServerSeals } from '../../models/mcp/server.ts';
import { linkOf, proofMs } from '../../models/rules/access/account.ts';
import { normalizeEmail } from '../../models/rules/access/email.ts';

/** A password link for the account with this address. It works once, within half an hour. @throws CliError */
export async function passwordLink(
  env: Record<string, string | undefined>,
  given: string,
  now: Date,
): Promise<{ email: string; link: string; expires_at: string }> {
  return onDatabase(env, async (config) => {
    const email = normalizeEmail(given);
    const user = await findUserByEmail(email);
    const token = randomBytes(32).toString('base64url');
    const expires_at = new Date(now.getTime() + proofMs);
    // The proof has no `email`, because the link is not sent by mail and so does not prove that the person owns the
    // address.
    const proof = { kind: 'password_reset', hash: hashToken(token), expires_at } as const;
    if (!user || !(await addProof(user._id, email, proof, now)))
      throw new CliError('There is no account with this e-mail.', { code: 'NOT_FOUND' });
    return { email, link: linkOf(config.publicUrl, 'password_reset', token), expires_at: expires_at.toISOString() };
  });
}

/** All encrypted fields in the database. */
export const allSeals: readonly SealedRecords[] = [
  signingKeySeals,
  errandSeals,
  idempotencySeals,
  oneTimeStateSeals,
  embedSecretSeals,
  supportConfigSeals,
  toolServerSeals,
  integrationSeals,
  releaseSeals,
  orgWebhookSeals,
  roomSeals,
];

type Everything = Resealed & { audits: { resigned: number; broken: string[] } };

/**
 * Encrypts with the current key everything that was encrypted with an older key. Idempotent, and safe while the system
 * runs. @throws CliError
 */
export async function reseal(env: Record<string, string | undefined>): Promise<Everything> {
  return onDatabase(env, async (config) => {
    const secrets = createSecretBox(config.secretKeys);
    const total: Resealed = { resealed: 0, left: 0, unreadable: [] };
    for (const seals of allSeals) {
      const { resealed, left, unreadable } = await resealRecords(seals, secrets);
      total.resealed += resealed;
      total.left += left;
      total.unreadable.push(...unreadable);
    }
    return { ...total, audits: await resignAudits(secrets) };
  });
}
