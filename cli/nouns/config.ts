/**
 * The commands of `config` (an organization's support settings) and `webhooks` (where members are notified of tasks and
 * meetings).
 */
import { command, noun } from '../described.ts';
import { record } from '../output.ts';
import * as orgwebhook from '../../api/events/contract/orgwebhook.ts';
import * as contract from '../../api/integrations/contract/supportconfig.ts';

export const config = noun({
  name: 'config',
  description: 'show and change the support configuration',
  commands: [
    command({
      name: 'get',
      description: 'show the support configuration',
      does: contract.getSupportConfig,
      lines: (reply, _, width) => record(reply.config, width),
    }),
    command({
      name: 'set',
      description: 'change what is named; the rest stays. org go-live changes the environment',
      examples: [
        'set --kb-segment-strict',
        'set --outbox-providers webhook --outbox-webhook-url https://example.com/hooks/tickets',
        'set --outbox-webhook-secret - < secret',
      ],
      does: contract.updateSupportConfig,
      except: ['environment'],
      lines: (reply, _, width) => record(reply.config, width),
    }),
  ],
});

export const webhooks = noun({
  name: 'webhooks',
  description: 'show and change where members are told of tasks and meetings',
  login: true,
  commands: [
    command({
      name: 'get',
      description: 'show where members are told, and of what',
      does: orgwebhook.getOrgWebhooks,
    }),
    command({
      name: 'set',
      description: 'change what is named; the rest stays',
      examples: ['set --email-notifications --notify-on task_assigned,meeting_ended', 'set --slack-webhook-url none'],
      does: orgwebhook.setOrgWebhooks,
    }),
  ],
});
