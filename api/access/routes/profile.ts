/** Routes of one's own profile. */
import { jwt } from '../auth.ts';
import * as contract from '../contract/profile.ts';
import { self, viewProfile } from '../profile.ts';
import { route } from '../../http/route.ts';
import { setPicture } from '../../../models/access/user.ts';
import { pictureProblem } from '../../../models/rules/access/account.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

export const profileRoutes = [
  route({
    name: 'getProfile',
    method: 'GET',
    path: '/me',
    summary: 'Your profile.',
    auth: jwt,
    reply: contract.profile,
    async handle({ principal }) {
      return viewProfile(await self(principal.userId));
    },
  }),
  route({
    name: 'setPicture',
    method: 'PUT',
    path: '/me/picture',
    summary: 'Show a picture of you from this address.',
    auth: jwt,
    body: contract.pictureBody,
    reply: contract.profile,
    async handle({ body: { picture }, principal }) {
      const message = picture === null ? undefined : pictureProblem(picture);
      if (message !== undefined) throw new Problem('VALIDATION', { details: [{ path: ['body', 'picture'], message }] });
      const user = await setPicture(principal.userId, picture === null ? null : new URL(picture).href);
      if (!user) throw new Problem('UNAUTHENTICATED');
      return viewProfile(user);
    },
  }),
];
