import { member } from '../auth.ts';
import * as contract from '../contract/hours.ts';
import { route } from '../../http/route.ts';
import { setOrganizationHours, type Organization } from '../../../models/access/organization.ts';
import { isOpen, nextOpening } from '../../../models/rules/access/hours.ts';

function view(hours: Organization['hours'] | undefined, now: Date) {
  const open = !hours || isOpen(hours, now);
  return { hours, open, next_opening: open ? null : nextOpening(hours, now) };
}

export const hoursRoutes = [
  route(contract.getHours, {
    summary: 'The hours in which the team answers, and whether it does now.',
    auth: member(),
    handle: ({ principal }, { clock }) => Promise.resolve(view(principal.org.hours, clock())),
  }),
  route(contract.setHours, {
    summary: 'Set the hours in which the team answers.',
    auth: member('admin'),
    async handle({ body, principal: { orgId } }, { clock }) {
      const hours = body.hours ?? undefined;
      await setOrganizationHours(orgId, hours);
      return view(hours, clock());
    },
  }),
];
