/**
 * Connects a tenant of Microsoft Teams: a person in the tenant sends the bot a one-time code that was given to an
 * admin.
 */
import { randomBytes } from 'node:crypto';
import { codeFrom, codeLength, teamsExternal, type TeamsActivity } from './rules.ts';
import { isAdmin } from '../../models/access/organization.ts';
import { connectIntegration, findOwner } from '../../models/integrations/integration.ts';
import { keepState, takeState } from '../../models/base/onetimestate.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';

const purpose = 'connect:teams';
/**
 * The admin who was given the code, and the organization to connect. The code is not bound to the admin's browser,
 * because a person in the tenant sends it to the bot.
 */
type Begun = { org_id: string; user_id: string };
type Deps = { secrets: SecretBox; now: Date };

/** Creates the code that a person in the organization's Teams sends to the bot. */
export async function beginTeams(
  orgId: string,
  userId: string,
  deps: Deps,
): Promise<{ code: string; expiresAt: Date }> {
  const code = codeFrom(randomBytes(codeLength));
  const begun: Begun = { org_id: orgId, user_id: userId };
  return { code, expiresAt: await keepState({ state: code, purpose }, begun, deps) };
}

/**
 * Connects the tenant that the message with the code came from. Returns the sentence that tells the sender the result.
 */
export async function connectTenant({ tenantId }: TeamsActivity, code: string, deps: Deps): Promise<string> {
  if (tenantId === '') return 'This message names no tenant.';
  const standing = await findOwner('teams', teamsExternal(tenantId));
  const taken = (await takeState({ state: code, purpose }, deps)) as Begun | null;
  if (!taken) return 'This code is unknown, was used, or is older than ten minutes.';
  if (!(await isAdmin(taken.org_id, taken.user_id)))
    return 'Whoever was given this code is no longer an owner or admin. Ask one of them for another code.';
  if (standing && standing.org_id !== taken.org_id) return 'Another organization has connected this Microsoft Teams.';
  const connected = { account: tenantId, settings: { tenant_id: tenantId }, events_of: teamsExternal(tenantId) };
  await connectIntegration(taken.org_id, 'teams', connected, deps.now);
  return 'This Microsoft Teams is connected. Ask me a question.';
}
