/** Routes by which people opt out of mails that they did not ask for. The link in the mail is the only credential. */
import { open } from '../../access/auth.ts';
import * as contract from '../contract/mail.ts';
import { redirect, route } from '../../http/route.ts';
import { objectToMails } from '../../../models/events/outsidemail.ts';
import { linkOf } from '../../../models/rules/access/account.ts';
import { invalid, Problem } from '../../../models/rules/base/errors.ts';
import { objectionScopes, readObjection } from '../../../models/rules/events/outsidemail.ts';

export const mailRoutes = [
  route(contract.seeMailObjection, {
    summary: 'Leads to the page on which mails are stopped. It changes nothing, since scanners of mails follow links.',
    auth: open,
    status: 302,
    limit: 'writes',
    async handle({ params: { token } }) {
      return redirect(linkOf('', 'mail_stop', token));
    },
  }),
  route(contract.stopMails, {
    summary:
      'Stop mails to the address that a mail went to: `List-Unsubscribe=One-Click` (RFC 8058), `scope=organization` or `scope=all`. The link of a mail that the organization’s own server sent stops that organization, whatever is asked.',
    auth: open,
    async handle({ params: { token }, raw }, ctx) {
      const scope = readObjection(raw.toString('utf8'));
      if (!scope) {
        throw invalid(
          ['body'],
          `must be a form that says List-Unsubscribe=One-Click, or one of scope=${objectionScopes.join(', scope=')}`,
        );
      }
      const stopped = await objectToMails(ctx.secrets, token, scope, ctx.clock());
      if (!stopped)
        throw new Problem('NOT_FOUND', { message: 'This link is not one of ours; check that it was copied whole.' });
      return { stopped };
    },
  }),
];
