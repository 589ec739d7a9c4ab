import { jwt } from '../auth.ts';
import * as contract from '../contract/profile.ts';
import { self, viewProfile } from '../profile.ts';
import { route } from '../../http/route.ts';
import { setPicture } from '../../../models/access/user.ts';
import { pictureProblem } from '../../../models/rules/access/account.ts';
import { invalid, Problem } from '../../../models/rules/base/errors.ts';

export const profileRoutes = [
  route(contract.getProfile, {
    summary: 'Your profile.',
    auth: jwt,
    async handle({ principal }) {
      return viewProfile(await self(principal.userId));
    },
  }),
  route(contract.setPicture, {
    summary: 'Show a picture of you from this address.',
    auth: jwt,
    async handle({ body: { picture }, principal }) {
      const message = picture === null ? undefined : pictureProblem(picture);
      if (message !== undefined) throw invalid(['body', 'picture'], message);
      const user = await setPicture(principal.userId, picture === null ? null : new URL(picture).href);
      if (!user) throw new Problem('UNAUTHENTICATED');
      return viewProfile(user);
    },
  }),
];
