/** Zod schemas of the requests and replies of signing in. */
import { z } from 'zod';
import { id, line, timestamp } from '../../base/contract/common.ts';
import { emailPattern, maxEmailLength } from '../../../models/rules/access/email.ts';
import { roles } from '../../../models/rules/access/roles.ts';
import { operation } from '../../base/contract/operation.ts';
import { redirectReply } from '../../base/contract/common.ts';

export const email = z
  .string()
  .max(maxEmailLength)
  .regex(emailPattern, 'must be an e-mail address')
  .meta({ description: 'Kept trimmed and in lower case.', example: 'ada@example.com' });

/** NIST SP 800-63B: only the length matters. The upper bound lets an overlong password be refused without hashing. */
export const newPassword = z.string().min(12).max(128);
export const password = z.string().min(1).max(128);

export const user = z
  .object({ userId: id, email: z.string(), name: z.string(), picture: z.string().optional() })
  .meta({ id: 'User' });
export const membership = z.object({ org_id: id, name: z.string(), role: z.enum(roles) }).meta({ id: 'Membership' });
/** A login lists only this many of the newest memberships; `GET /orgs` lists all. */
export const maxMemberships = 100;
const organizations = z.array(membership).meta({ description: `The newest ${maxMemberships}; GET /orgs has all.` });

const registerBody = z.strictObject({
  email,
  password: newPassword,
  name: line(100),
  company: line(100).optional().meta({ description: 'Creates an organization of this name, with you as its owner.' }),
});
const loginBody = z.strictObject({ email, password });
export const loginReply = z.object({
  token: z.string().meta({ description: 'Send it as `Authorization: Bearer …`; valid 7 days.' }),
  expires_at: timestamp,
  user,
  organizations,
});
const meReply = z.object({ user, organizations });

const oidcStartQuery = z.object({
  page: z.literal('app').optional().meta({ description: 'Ends signed in on the page `/app` instead of with a token.' }),
});
const browserOffer = z.object({
  providers: z.array(z.string()).meta({ description: 'Identity providers to sign in with.' }),
});
const browserReply = loginReply.omit({ token: true });
const browserLeft = z.object({ signed_out: z.literal(true) });
/** The parameters of RFC 6749 and RFC 9207; others that a provider adds are ignored. */
const oidcCallbackQuery = z.object({
  state: z.string().max(1000).optional(),
  code: z.string().max(4096).optional(),
  iss: z.string().max(2048).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2000).optional(),
});

export type Membership = z.output<typeof membership>;

export type User = z.output<typeof user>;

export const register = operation('register', 'POST /auth/register', { body: registerBody, reply: loginReply });
export const login = operation('login', 'POST /auth/login', { body: loginBody, reply: loginReply });
export const getLogin = operation('getLogin', 'GET /auth/me', { reply: meReply });
export const startFederatedLogin = operation('startFederatedLogin', 'GET /auth/oidc/{provider}/start', {
  query: oidcStartQuery,
  reply: redirectReply,
});
export const finishFederatedLogin = operation('finishFederatedLogin', 'GET /auth/oidc/{provider}/callback', {
  query: oidcCallbackQuery,
  reply: loginReply,
});
export const getBrowserLogin = operation('getBrowserLogin', 'GET /auth/browser', { reply: browserOffer });
export const loginBrowser = operation('loginBrowser', 'POST /auth/browser', { body: loginBody, reply: browserReply });
export const logoutBrowser = operation('logoutBrowser', 'DELETE /auth/browser', { reply: browserLeft });
