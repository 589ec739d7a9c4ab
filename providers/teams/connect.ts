/** Connects a tenant of Microsoft Teams: somebody there sends the bot a code that an admin was given here. */
import { createHash, randomBytes } from 'node:crypto';
import { codeFrom, codeLength, teamsExternal, type TeamsActivity } from './rules.ts';
import { isAdmin } from '../../models/access/organization.ts';
import { connectIntegration, findOwner } from '../../models/integrations/integration.ts';
import { keepOauthState, oauthStateSeconds, takeOauthState } from '../../models/integrations/oauthstate.ts';

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');
/** A code is bound to no browser: whoever sends it speaks for the tenant. */
const anyBrowser = 'teams';

/** Makes the code that somebody in the organization's Teams sends to the bot. */
export async function beginTeams(orgId: string, userId: string, now: Date): Promise<{ code: string; expiresAt: Date }> {
  const code = codeFrom(randomBytes(codeLength));
  const expiresAt = new Date(now.getTime() + oauthStateSeconds * 1000);
  await keepOauthState({
    _id: hashed(code),
    org_id: orgId,
    provider: 'teams',
    user_id: userId,
    browser: anyBrowser,
    settings: {},
    expires_at: expiresAt,
  });
  return { code, expiresAt };
}

/** Connects the tenant that a message with a code came from; the sentence says how it ended. */
export async function connectTenant({ tenantId }: TeamsActivity, code: string, now: Date): Promise<string> {
  if (tenantId === '') return 'This message names no tenant.';
  const standing = await findOwner('teams', teamsExternal(tenantId));
  const taken = await takeOauthState(hashed(code), 'teams', anyBrowser, now);
  if (!taken) return 'This code is unknown, was used, or is older than ten minutes.';
  if (!(await isAdmin(taken.org_id, taken.user_id)))
    return 'Whoever was given this code is no longer an owner or admin. Ask one of them for another code.';
  if (standing && standing.org_id !== taken.org_id) return 'Another organization has connected this Microsoft Teams.';
  const connected = { account: tenantId, settings: { tenant_id: tenantId }, events_of: teamsExternal(tenantId) };
  await connectIntegration(taken.org_id, 'teams', connected, now);
  return 'This Microsoft Teams is connected. Ask me a question.';
}
