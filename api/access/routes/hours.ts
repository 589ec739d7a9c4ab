/** Routes of the hours in which a team answers. */
import { member } from '../auth.ts';
import * as contract from '../contract/hours.ts';
import { route } from '../../http/route.ts';
import { setOrganizationHours, type Organization } from '../../../models/access/organization.ts';
import { isOpen, nextOpening } from '../../../models/rules/access/hours.ts';

const path = '/orgs/{orgId}/hours';

function view(hours: Organization['hours'] | undefined, now: Date) {
  const open = !hours || isOpen(hours, now);
  return { hours, open, next_opening: open ? null : nextOpening(hours, now) };
}

export const hoursRoutes = [
  route('getHours', `GET ${path}`, {
    summary: 'The hours in which the team answers, and whether it does now.',
    auth: member(),
    reply: contract.hoursReply,
    handle: ({ principal }, { clock }) => Promise.resolve(view(principal.org.hours, clock())),
  }),
  route('setHours', `PUT ${path}`, {
    summary: 'Set the hours in which the team answers.',
    auth: member('admin'),
    body: contract.hoursBody,
    reply: contract.hoursReply,
    async handle({ body, principal: { orgId } }, { clock }) {
      const hours = body.hours ?? undefined;
      await setOrganizationHours(orgId, hours);
      return view(hours, clock());
    },
  }),
];
