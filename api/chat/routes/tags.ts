/** Routes of the tags that a team uses, with their colours. A conversation may also have other tags. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/tags.ts';
import { route } from '../../http/route.ts';
import { setOrganizationTags } from '../../../models/access/organization.ts';
import { invalid } from '../../../models/rules/base/errors.ts';

export const tagRoutes = [
  route(contract.listTeamTags, {
    summary: 'The tags that the team uses, with their colours.',
    auth: member(),
    handle: ({ principal }) => Promise.resolve({ tags: principal.org.tags ?? [] }),
  }),
  route(contract.setTeamTags, {
    summary: 'Replace the tags that the team uses.',
    auth: member('admin'),
    async handle({ body, principal: { orgId } }) {
      const tags = body.tags.map(({ name, colour }) => ({ name: name.trim(), colour }));
      const twice = tags.findIndex(({ name }, at) => tags.findIndex((other) => other.name === name) < at);
      if (twice !== -1) throw invalid(['body', 'tags', twice, 'name'], 'stands there twice');
      await setOrganizationTags(orgId, tags);
      return { tags };
    },
  }),
];
