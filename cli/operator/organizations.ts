/** What an operator sees of an organization itself: who it is, and which of its connections do not work. */
import { listDestinations } from '../../models/events/destination.ts';
import { hasMailServer, listIntegrations } from '../../models/integrations/integration.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import {
  findOrganization,
  findOrganizationsNamed,
  listOrganizationsOf,
  type Organization,
} from '../../models/access/organization.ts';
import { findUserByEmail } from '../../models/access/user.ts';
import { modes } from '../../models/rules/access/keys.ts';
import { CliError } from '../errors.ts';

/** `since`: ISO 8601. */
type FoundOrganization = { org_id: string; name: string; environment: string; since: string };
/** `what`: a destination of deliveries with its mode, or an integration. `since`: ISO 8601. */
type NotWorking = { what: string; status: string; since: string; reason: string };

const most = 50;

const shown = ({ _id, name, environment, created_at }: Organization): FoundOrganization => ({
  org_id: _id,
  name,
  environment,
  since: created_at.toISOString(),
});

/** The organizations of a member, by the e-mail address, or those whose name contains the text; at most 50. */
export async function find(text: string): Promise<FoundOrganization[]> {
  if (!text.includes('@')) return (await findOrganizationsNamed(text, most)).map(shown);
  const user = await findUserByEmail(text.toLowerCase());
  return user ? (await listOrganizationsOf(user._id, most)).map(shown) : [];
}

/** An organization and its destinations and integrations that do not work. @throws CliError NOT_FOUND */
export async function organizationWithFaults(
  orgId: string,
): Promise<{ organization: FoundOrganization; own_mail_server: boolean; not_working: NotWorking[] }> {
  const organization = await findOrganization(orgId);
  if (!organization)
    throw new CliError(`${orgId} is not the id of an organization. \`ops find\` finds it by a name or an address.`, {
      code: 'NOT_FOUND',
    });
  const { outbox_version } = await findSupportConfig(orgId);
  const [destinations, integrations, own_mail_server] = await Promise.all([
    listDestinations(orgId, modes, outbox_version),
    listIntegrations(orgId),
    hasMailServer(orgId),
  ]);
  return {
    organization: shown(organization),
    own_mail_server,
    not_working: [
      ...destinations
        .filter(({ status }) => status !== 'active')
        .map(({ kind, mode, status, disabled_at, failing_since, updated_at, last_error = '' }) => ({
          what: `${kind} (${mode})`,
          status,
          since: (disabled_at ?? failing_since ?? updated_at).toISOString(),
          reason: last_error,
        })),
      ...integrations
        .filter(({ status }) => status === 'broken')
        .map(({ provider, status, broken_at, updated_at, broken_reason = '' }) => ({
          what: provider,
          status,
          since: (broken_at ?? updated_at).toISOString(),
          reason: broken_reason,
        })),
    ],
  };
}
