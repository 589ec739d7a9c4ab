/** Finds organizations for an operator, and lists their connections that do not work. */
import { listDestinations } from '../../models/events/destination.ts';
import { hasMailServer, listIntegrations } from '../../models/integrations/integration.ts';
import {
  findOrganization,
  findOrganizationsNamed,
  listOrganizationsOf,
  type Organization,
} from '../../models/access/organization.ts';
import { findUserByEmail } from '../../models/access/user.ts';
import { modes } from '../../models/rules/access/keys.ts';
import { CliError } from '../errors.ts';

/** `since`: when the organization was created, in ISO 8601. */
type FoundOrganization = { org_id: string; name: string; environment: string; since: string };
/** `what`: a destination of deliveries with its mode, or an integration. `since`: ISO 8601. */
export type NotWorking = { provider: string; what: string; status: string; since: string; reason: string };

const most = 50;

const shown = ({ _id, name, environment, created_at }: Organization): FoundOrganization => ({
  org_id: _id,
  name,
  environment,
  since: created_at.toISOString(),
});

/**
 * The organization whose id is `text`, those of the member with this e-mail address, or those whose name contains
 * `text`; at least one and at most 50. @throws CliError NOT_FOUND
 */
export async function find(text: string): Promise<FoundOrganization[]> {
  const found = await matching(text);
  if (found.length > 0) return found.map(shown);
  throw new CliError(`No organization has the id or the name ${text}, or a member with that address.`, {
    code: 'NOT_FOUND',
  });
}

async function matching(text: string): Promise<Organization[]> {
  if (text.includes('@')) {
    const user = await findUserByEmail(text.toLowerCase());
    return user ? listOrganizationsOf(user._id, most) : [];
  }
  const organization = await findOrganization(text);
  return organization ? [organization] : findOrganizationsNamed(text, most);
}

/** Whether an organization has its own mail server, and which of its destinations and integrations do not work. */
export async function faultsOf(orgId: string): Promise<{ own_mail_server: boolean; not_working: NotWorking[] }> {
  const [own_mail_server, not_working] = await Promise.all([hasMailServer(orgId), notWorkingOf(orgId)]);
  return { own_mail_server, not_working };
}

/** The destinations and integrations of an organization that do not work. */
export async function notWorkingOf(orgId: string): Promise<NotWorking[]> {
  const [destinations, integrations] = await Promise.all([listDestinations(orgId, modes), listIntegrations(orgId)]);
  return [
    ...destinations
      .filter(({ status }) => status !== 'active')
      .map(({ kind, mode, status, disabled_at, failing_since, updated_at, last_error = '' }) => ({
        provider: kind,
        what: `${kind} (${mode})`,
        status,
        since: (disabled_at ?? failing_since ?? updated_at).toISOString(),
        reason: last_error,
      })),
    ...integrations
      .filter(({ status }) => status === 'broken')
      .map(({ provider, status, broken_at, updated_at, broken_reason = '' }) => ({
        provider,
        what: provider,
        status,
        since: (broken_at ?? updated_at).toISOString(),
        reason: broken_reason,
      })),
  ];
}
