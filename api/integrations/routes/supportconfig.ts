/** Routes of an organization's support configuration. Its field `environment` takes the organization live. */
import { key } from '../../access/auth.ts';
import { checkEnvironmentChange } from '../../access/goinglive.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/supportconfig.ts';
import { route } from '../../http/route.ts';
import { setEnvironment } from '../../../models/access/organization.ts';
import type { Environment } from '../../../models/rules/access/keys.ts';
import {
  applySettings,
  checkWebhookSecret,
  outboxAfter,
  type SettingsPatch,
} from '../../../models/rules/integrations/supportconfig.ts';
import { listConnectedIntegrations } from '../../../models/integrations/integration.ts';
import {
  findSupportConfig,
  saveSupportConfig,
  webhookSecretPlace,
  type SupportConfig,
} from '../../../models/integrations/supportconfig.ts';

function view(supportConfig: SupportConfig, environment: Environment) {
  const fields = {
    ...supportConfig,
    org_id: supportConfig._id,
    environment,
    has_outbox_webhook_secret: supportConfig.outbox_webhook_secret !== null,
  };
  return { ...fields, config: fields };
}

/**
 * The effective changes of a patch. A secret that equals the stored one is kept; otherwise it would count as a
 * rotation, and events would be signed with the old and the new secret.
 */
function changesOf(
  { secrets }: Context,
  current: SupportConfig,
  { outbox_webhook_secret: secret, ...rest }: SettingsPatch,
) {
  if (!secret) return { ...rest, outbox_webhook_secret: secret };
  const { _id, outbox_webhook_secret: before } = current;
  const place = webhookSecretPlace(_id);
  const same = before !== null && secrets.open(before, place) === secret;
  return { ...rest, outbox_webhook_secret: same ? before : secrets.seal(secret, place) };
}

/**
 * Applies a patch to the stored configuration with optimistic locking: it retries after a concurrent change, so that
 * rules that involve two fields hold.
 */
async function patchSupportConfig(ctx: Context, orgId: string, given: SettingsPatch): Promise<SupportConfig> {
  for (;;) {
    const current = await findSupportConfig(orgId);
    if (Object.values(given).every((value) => value === undefined)) return current;
    // The connections are read after the configuration. A later disconnection changes the configuration's version, so
    // saving fails and the loop runs again.
    const around = { integrations: await listConnectedIntegrations(orgId), egressAllow: ctx.config.egressAllow };
    const patch = changesOf(ctx, current, given);
    const now = ctx.clock();
    const next = { ...applySettings(current, patch, around), ...outboxAfter(current, patch, now) };
    if (await saveSupportConfig(orgId, current.version, next, now))
      return { ...current, ...next, version: current.version + 1, updated_at: now };
  }
}

export const supportConfigRoutes = [
  route(contract.getSupportConfig, {
    summary: 'The configuration; defaults where nothing was set.',
    auth: key('support:read'),
    async handle({ principal }) {
      return view(await findSupportConfig(principal.orgId), principal.environment);
    },
  }),
  route(contract.updateSupportConfig, {
    summary: 'Change the fields named; the others stay. `environment` takes the organization live or back.',
    auth: key('support:write'),
    errors: ['MISSING_ROLE', 'EMAIL_UNVERIFIED', 'PROVIDER_NOT_CONNECTED'],
    async handle({ body, principal }, ctx) {
      const { environment, ...rest } = body;
      if (environment) await checkEnvironmentChange(ctx, principal, environment);
      checkWebhookSecret(rest.outbox_webhook_secret);
      const supportConfig = await patchSupportConfig(ctx, principal.orgId, rest);
      if (environment) await setEnvironment(principal.orgId, environment);
      return view(supportConfig, environment ?? principal.environment);
    },
  }),
];
