import { z } from 'zod';
import { membership } from './auth.ts';
import { id, timestamp } from '../../base/contract/common.ts';
import { operation } from '../../base/contract/operation.ts';

export const profile = z
  .object({
    userId: id,
    email: z.string(),
    email_verified: z
      .boolean()
      .meta({ description: 'Whether an identity provider, or a mail that was sent there, has proven it.' }),
    name: z.string(),
    picture: z.string().nullable(),
    created_at: timestamp,
    organizations: z.array(membership),
  })
  .meta({ id: 'Profile' });
const pictureBody = z.strictObject({
  picture: z.string().max(2_048).nullable().meta({ description: 'An https address; null removes it.' }),
});

export const getProfile = operation('getProfile', 'GET /me', { reply: profile });
export const setPicture = operation('setPicture', 'PUT /me/picture', { body: pictureBody, reply: profile });
