/**
 * Who may take an organization live: an owner or admin who is logged in, and only if an owner has a verified e-mail
 * address.
 */
import type { Context } from '../context.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { listUsers } from '../../models/access/user.ts';
import type { Environment } from '../../models/rules/access/keys.ts';
import { hasRole, type Role } from '../../models/rules/access/roles.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * `role`: the role of a logged-in member; undefined for a key, which may not change the environment. @throws Problem
 * MISSING_ROLE, EMAIL_UNVERIFIED
 */
export async function checkEnvironmentChange(
  { config }: Pick<Context, 'config'>,
  { orgId, role }: { orgId: string; role?: Role | undefined },
  environment: Environment,
): Promise<void> {
  if (!role || !hasRole(role, 'admin'))
    throw new Problem('MISSING_ROLE', {
      message: 'Only an owner or admin, logged in to the dashboard, changes the environment.',
    });
  // A live organization sends mails to strangers through the deployment's server. So an owner must have a verified
  // address if the deployment can verify addresses at all.
  const provable = config.mail.server !== undefined || Object.keys(config.oidcProviders).length > 0;
  if (environment !== 'production' || !provable) return;
  const members = (await findOrganization(orgId))?.members ?? [];
  const owners = await listUsers(members.filter((one) => one.role === 'owner').map(({ user_id }) => user_id));
  if (!owners.some(({ email_verified }) => email_verified)) throw new Problem('EMAIL_UNVERIFIED');
}
