/**
 * The commands of `sessions`: create and end customers' sessions by hand, as an organization's backend does, for
 * example to try the chat.
 */
import { z } from 'zod';
import { command, noun } from '../described.ts';
import * as contract from '../../api/access/contract/sessions.ts';

const { customer, context, ...rest } = contract.mintBody.shape;
const { email, name, externalCustomerId } = customer.shape;

export const sessions = noun({
  name: 'sessions',
  description: 'mint and revoke sessions of customers',
  example: 'ssn_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    command({
      name: 'mint',
      description: 'mint a session for a customer, with an API key; its token is shown only once',
      examples: [
        'mint --email ada@example.com --name Ada',
        'mint --external-id 4711 --segment business --ttl-seconds 600',
      ],
      does: contract.mintSession,
      fields: {
        of: z.strictObject({
          email: email.meta({ description: 'the customer’s e-mail address' }),
          name: name.meta({ description: 'the customer’s name' }),
          external_id: externalCustomerId,
          segment: context.unwrap().shape.productType,
          ...rest,
        }),
        body: ({ email, name, external_id, segment, ...others }) => ({
          customer: { email, name, externalCustomerId: external_id },
          ...(segment === undefined ? {} : { context: { productType: segment } }),
          ...others,
        }),
      },
    }),
    command({
      name: 'revoke',
      description: 'end a session at once',
      does: contract.revokeSession,
      login: true,
      args: { sessionId: 'its identifier; sessions mint shows it' },
      lines: ({ session_id }) => [`Revoked ${session_id}`],
    }),
  ],
});
