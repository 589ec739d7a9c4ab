/**
 * Zod schemas of the frames that keep a member's inbox up to date, and of the reply with the inbox socket's address.
 */
import { z } from 'zod';
import { conversation } from './inbox.ts';
import { notification } from '../../access/contract/notifications.ts';
import { id, timestamp } from '../../base/contract/common.ts';
import { doings } from '../../../models/rules/live/staff.ts';
import { memberStates, roles } from '../../../models/rules/access/roles.ts';
import { operation } from '../../base/contract/operation.ts';

const liveReply = z.object({
  ws_url: z.string().meta({ description: 'Good for one connection; `mode` and `since` may be added to its query.' }),
  expires_at: timestamp,
});

const doing = z.enum(doings);
export const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('viewing'), conv_id: id, doing }),
  z.strictObject({ type: z.literal('ping') }),
]);
export type StaffClientFrame = z.infer<typeof clientFrame>;

const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), seq: z.literal(0), ...shape });
const at = timestamp.meta({ description: 'Send the latest one as `since` after a break.' });
const viewing = { conv_id: id, user_id: id, doing };
const state = z.enum(memberStates);

export const staffFrame = z.discriminatedUnion('type', [
  frame('welcome', {
    at,
    user_id: id,
    role: z.enum(roles),
    members: z.array(z.object({ user_id: id, name: z.string(), state })),
    viewing: z.array(z.object(viewing)),
  }),
  frame('reload', {}),
  frame('conversation', { at, conversation }),
  frame('removed', { conv_id: id }),
  frame('viewing', viewing),
  frame('typing', { conv_id: id }),
  frame('answer', {
    conv_id: id,
    message_id: id,
    body: z.string().meta({ description: 'As far as it is written. The message follows with `conversation`.' }),
  }),
  frame('notification', { notification }),
  frame('member', { user_id: id, state }),
  frame('error', {
    code: z.string(),
    message: z.string(),
    refused: z.string().optional(),
    retry_after: z.number().int().optional(),
  }),
  frame('pong', { at }),
]);
export type StaffServerFrame = z.infer<typeof staffFrame>;

export const openLive = operation('openLive', 'POST /support/live/orgs/{orgId}', { reply: liveReply });
