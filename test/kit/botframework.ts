/** A local issuer of Bot Framework tokens, and a local Teams service that receives the answers of the bot. */
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { json, serving } from './listening.ts';

export type BotFramework = {
  url: string;
  issuer: string;
  /** The answers of the bot: the path, the credential and the activity. */
  answers: { path: string; authorization: string; activity: { text: string; replyToId: string } }[];
  /** A token as Microsoft issues it. `kid` names the key, and `foreign` signs with a different key. */
  token(
    claims: JWTPayload,
    options?: { kid?: string; foreign?: boolean; issuer?: string; seconds?: number },
  ): Promise<string>;
  close(): Promise<void>;
};

export const appId = '11111111-2222-3333-4444-555555555555';
export const appPassword = 'the bot’s password';

export async function startBotFramework(): Promise<BotFramework> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const issuer = 'https://api.botframework.example';
  const jwk = await exportJWK(own.publicKey);
  const keys = [
    { ...jwk, kid: 'teams', use: 'sig', endorsements: ['msteams', 'webchat'] },
    { ...jwk, kid: 'skype', use: 'sig', endorsements: ['skype'] },
  ];
  const answers: BotFramework['answers'] = [];
  const { url, close } = await serving(async (request, response, body) => {
    const path = request.url ?? '';
    if (path === '/openid') json(response, 200, { issuer, jwks_uri: `${url}/keys` });
    else if (path === '/keys') json(response, 200, { keys });
    else if (path === '/token') {
      const form = new URLSearchParams(body);
      const right = form.get('client_id') === appId && form.get('client_secret') === appPassword;
      if (right) json(response, 200, { access_token: 'bot-token', expires_in: 3600 });
      else json(response, 401, { error: 'invalid_client' });
    } else {
      answers.push({ path, authorization: request.headers.authorization ?? '', activity: JSON.parse(body) });
      json(response, 201, { id: 'answer' });
    }
  });
  return {
    url,
    issuer,
    answers,
    token: (claims, { kid = 'teams', foreign: other = false, issuer: by = issuer, seconds = 600 } = {}) =>
      new SignJWT({ aud: appId, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setIssuer(by)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign((other ? foreign : own).privateKey),
    close,
  };
}
