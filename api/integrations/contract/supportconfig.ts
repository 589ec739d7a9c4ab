/** Zod schemas of an organization's support configuration. The webhook's secret is accepted and never returned. */
import { z } from 'zod';
import { id, timestamp } from '../../base/contract/common.ts';
import { environments } from '../../../models/rules/access/keys.ts';
import {
  maxAllowedOrigins,
  maxWebhookUrlLength,
  outboxProviders,
  webhookSecretLength,
} from '../../../models/rules/integrations/supportconfig.ts';
import { operation } from '../../base/contract/operation.ts';

const provider = z.enum(outboxProviders);
const environment = z.enum(environments);

export const supportConfig = z
  .object({
    org_id: id,
    environment: environment.meta({ description: '`production` once the organization is live.' }),
    kb_segment_strict: z.boolean(),
    outbox_providers: z.array(provider),
    outbox_webhook_url: z.string().nullable(),
    has_outbox_webhook_secret: z.boolean(),
    allowed_origins: z.array(z.string()),
    updated_at: timestamp
      .nullable()
      .meta({ description: 'Null while all of it is the default; `environment` does not count.' }),
  })
  .meta({ id: 'SupportConfig' });
/** The fields appear twice, at the top level and in `config`, as the specification has them. */
export const supportConfigReply = z.object({ ...supportConfig.shape, config: supportConfig });

/** A field that is left out keeps its value. */
const supportConfigBody = z.strictObject({
  environment: environment
    .optional()
    .meta({ description: 'Goes live or back. An owner or admin by dashboard login only.' }),
  kb_segment_strict: z.boolean().optional().meta({
    description: 'When true, untagged content is out of reach of every question that names a segment.',
  }),
  outbox_providers: z.array(provider).max(outboxProviders.length).optional().meta({ uniqueItems: true }),
  outbox_webhook_url: z.string().min(1).max(maxWebhookUrlLength).nullable().optional().meta({
    description: 'HTTPS, a public host, no user name or password in it. Null removes it.',
    example: 'https://example.com/hooks/tickets',
  }),
  outbox_webhook_secret: z
    .string()
    .min(webhookSecretLength.min)
    .max(webhookSecretLength.max)
    .nullable()
    .optional()
    .meta({
      description: 'Signs each event. With the prefix `whsec_`, the rest is base64. Null removes it.',
    }),
  allowed_origins: z.array(z.string().min(1).max(300)).max(maxAllowedOrigins).optional().meta({
    description: 'Origins whose pages may embed the chat, such as `https://www.example.com`.',
  }),
});

export const getSupportConfig = operation('getSupportConfig', 'GET /support/config/orgs/{orgId}', {
  reply: supportConfigReply,
});
export const updateSupportConfig = operation('updateSupportConfig', 'PUT /support/config/orgs/{orgId}', {
  body: supportConfigBody,
  reply: supportConfigReply,
});
