/** Zod schemas of the requests and replies that opt an address out of mails. */
import { z } from 'zod';
import { objectionScopes } from '../../../models/rules/events/outsidemail.ts';
import { operation } from '../../base/contract/operation.ts';
import { redirectReply } from '../../base/contract/common.ts';

const objectionParams = z.object({
  token: z
    .string()
    .regex(/^[\w.-]{1,200}$/, 'must be the end of the link, as it stands in the mail')
    .meta({ description: 'What stands at the end of the link in the mail.' }),
});
const stoppedReply = z.object({
  stopped: z
    .enum(objectionScopes)
    .meta({ description: 'What was stopped: mails of the organization that wrote, or of anybody here.' }),
});

export const seeMailObjection = operation('seeMailObjection', 'GET /mail/objections/{token}', {
  params: objectionParams,
  reply: redirectReply,
});
export const stopMails = operation('stopMails', 'POST /mail/objections/{token}', {
  params: objectionParams,
  raw: true,
  reply: stoppedReply,
});
