/** The commands of `deliveries`: list what was sent to an organization's destinations, and send it again. */
import { command, listing, noun } from '../described.ts';
import { record } from '../output.ts';
import * as contract from '../../api/events/contract/outbox.ts';

export const deliveries = noun({
  name: 'deliveries',
  description: 'see what was sent to your systems and to people, and send it again',
  example: 'dlv_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    listing({
      name: 'list',
      description: 'list deliveries, newest first',
      examples: ['list --status failed', 'list --kind webhook --limit 20'],
      does: contract.listDeliveries,
      entries: 'deliveries',
      columns: {
        DELIVERY: (one) => one.delivery_id,
        MODE: (one) => one.mode,
        KIND: (one) => one.kind,
        STATUS: (one) => one.status,
        EVENT: (one) => one.event_type,
        TRIES: (one) => one.attempts.length,
        CREATED: (one) => one.created_at,
        'NEXT TRY': (one) => one.next_attempt_at,
        DESTINATION: (one) => one.destination,
      },
      none: 'There are no such deliveries.',
    }),
    command({
      name: 'show',
      description: 'show a delivery with its attempts and what was sent',
      does: contract.getDelivery,
      lines: ({ delivery }, _, width) => record(delivery, width),
    }),
    command({
      name: 'redeliver',
      description: 'send a delivery again',
      does: contract.redeliver,
      lines: ({ delivery }) => [`${delivery.delivery_id} is sent again`],
    }),
    command({
      name: 'recover',
      description: 'send again all that failed since a time',
      examples: ['recover 2030-01-31T00:00:00Z'],
      does: contract.recoverDeliveries,
      args: { since: 'a time with its zone, like 2030-01-31T00:00:00Z' },
      lines: ({ recovered }) => [`sent again: ${recovered}`],
    }),
    command({
      name: 'test',
      description: 'send a test event to your webhook',
      does: contract.sendTestEvent,
      lines: ({ delivery }) => [`Sending ${delivery.delivery_id} to ${delivery.destination}`],
    }),
  ],
});
