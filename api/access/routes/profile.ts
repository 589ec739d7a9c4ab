/** Routes of one's own profile. */
import { jwt } from '../auth.ts';
import * as contract from '../contract/profile.ts';
import { self, viewProfile } from '../profile.ts';
import { route } from '../../http/route.ts';
import { setPicture } from '../../../models/access/user.ts';
import { pictureProblem } from '../../../models/rules/access/account.ts';
import { invalid, Problem } from '../../../models/rules/base/errors.ts';

export const profileRoutes = [
  route('getProfile', 'GET /me', {
    summary: 'Your profile.',
    auth: jwt,
    reply: contract.profile,
    async handle({ principal }) {
      return viewProfile(await self(principal.userId));
    },
  }),
  route('setPicture', 'PUT /me/picture', {
    summary: 'Show a picture of you from this address.',
    auth: jwt,
    body: contract.pictureBody,
    reply: contract.profile,
    async handle({ body: { picture }, principal }) {
      const message = picture === null ? undefined : pictureProblem(picture);
      if (message !== undefined) throw invalid(['body', 'picture'], message);
      const user = await setPicture(principal.userId, picture === null ? null : new URL(picture).href);
      if (!user) throw new Problem('UNAUTHENTICATED');
      return viewProfile(user);
    },
  }),
];
