/** Routes of the tags that a team uses, with their colours. A conversation may also have other tags. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/tags.ts';
import { route } from '../../http/route.ts';
import { setOrganizationTags } from '../../../models/access/organization.ts';
import { invalid } from '../../../models/rules/base/errors.ts';

const path = '/orgs/{orgId}/tags';

export const tagRoutes = [
  route('listTeamTags', `GET ${path}`, {
    summary: 'The tags that the team uses, with their colours.',
    auth: member(),
    reply: contract.teamTags,
    handle: ({ principal }) => Promise.resolve({ tags: principal.org.tags ?? [] }),
  }),
  route('setTeamTags', `PUT ${path}`, {
    summary: 'Replace the tags that the team uses.',
    auth: member('admin'),
    body: contract.teamTags,
    reply: contract.teamTags,
    async handle({ body, principal: { orgId } }) {
      const tags = body.tags.map(({ name, colour }) => ({ name: name.trim(), colour }));
      const twice = tags.findIndex(({ name }, at) => tags.findIndex((other) => other.name === name) < at);
      if (twice !== -1) throw invalid(['body', 'tags', twice, 'name'], 'stands there twice');
      await setOrganizationTags(orgId, tags);
      return { tags };
    },
  }),
];
