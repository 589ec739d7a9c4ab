/**
 * Routes of support sessions and of the embed secret. A backend mints sessions for its customers; a member revokes
 * them.
 */
import { randomBytes } from 'node:crypto';
import { key, member } from '../auth.ts';
import * as contract from '../contract/sessions.ts';
import { route } from '../../http/route.ts';
import { embedSecretPlace, findEmbedSecret, replaceEmbedSecret } from '../../../models/access/embedsecret.ts';
import { newId } from '../../../models/base/ids.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { sought } from '../../../models/rules/base/errors.ts';
import { productTypeOf, sessionEnd } from '../../../models/rules/access/session.ts';
import { createSession, newStepUp, revokeSession } from '../../../models/access/session.ts';
import { defined } from '../../../models/rules/base/defined.ts';

export const sessionRoutes = [
  route(contract.mintSession, {
    summary: 'A session for one customer, whom your backend has identified. Its mode is the key’s.',
    auth: key('sessions:mint', { keyOnly: true }),
    limit: 'sessions',
    endOf: ({ expires_at }) => new Date(expires_at),
    async handle({ body, principal }, ctx) {
      const { orgId, mode } = principal;
      const { email, name, externalCustomerId: externalId } = body.customer;
      const { visitorId, context = {} } = body;
      const now = ctx.clock();
      const productType = productTypeOf(context);
      const expiresAt = sessionEnd(body.ttlSeconds, now);
      const stepUp = body.stepUp ? newStepUp(now) : undefined;
      const identity = {
        externalId,
        name,
        visitorId,
        ...(email === undefined ? {} : { email: normalizeEmail(email) }),
      };
      const { _id: customerId } = await ctx.hooks.provideCustomer(orgId, mode, identity, now);
      const sessionId = newId('session');
      await createSession({
        _id: sessionId,
        org_id: orgId,
        mode,
        kind: 'minted',
        customer_id: customerId,
        verified: true,
        ...defined({ product_type: productType }),
        context,
        ...defined({ visitor_id: visitorId }),
        ...stepUp?.stored,
        expires_at: expiresAt,
        created_by: principal.actor,
        created_at: now,
      });
      const signed = {
        sessionId,
        customerId,
        orgId,
        mode,
        verified: true,
        ...defined({ productType }),
      };
      const token = await ctx.tokens.signSession(signed, expiresAt, now);
      const { publicUrl } = ctx.config;
      return {
        token,
        session_id: sessionId,
        customer_id: customerId,
        expires_at: expiresAt,
        ws_url: `${publicUrl.replace(/^http/, 'ws')}/v1/support/chat/ws/${orgId}?sessionToken=${token}`,
        rest_base_url: `${publicUrl}/v1/support`,
        mode,
        step_up_token: stepUp?.token,
      };
    },
  }),
  route(contract.revokeSession, {
    summary: 'End a session: within a second nothing accepts its token, and its open connections close.',
    auth: member(),
    async handle({ params, principal }, ctx) {
      const session = await sought(revokeSession(principal.orgId, params.sessionId, ctx.clock()), 'session');
      return { session_id: session._id, status: 'revoked' as const };
    },
  }),
  route(contract.getEmbedSecret, {
    summary: 'Whether there is a secret that signs e-mails of embedded customers; never the secret.',
    auth: key('support:read'),
    async handle({ principal }, ctx) {
      const { orgId, mode } = principal;
      const record = await findEmbedSecret(orgId, mode);
      const former = record?.former && record.former.until > ctx.clock() ? record.former : undefined;
      return { mode, exists: record !== null, created_at: record?.created_at, former_until: former?.until };
    },
  }),
  route(contract.replaceEmbedSecret, {
    summary: 'Make the secret that signs e-mails of embedded customers of this mode, or a new one in its place.',
    auth: key('support:write'),
    status: 201,
    async handle({ body, principal }, ctx) {
      const { orgId, mode } = principal;
      const now = ctx.clock();
      const secret = `emb_${mode}_${randomBytes(32).toString('base64url')}`;
      const formerUntil = new Date(now.getTime() + (body.overlap_seconds ?? 0) * 1000);
      await replaceEmbedSecret(orgId, mode, ctx.secrets.seal(secret, embedSecretPlace(orgId, mode)), formerUntil, now);
      return { mode, embed_secret: secret, created_at: now };
    },
  }),
];
