/** A local issuer of Bot Framework tokens, and a local Teams service that receives the answers of the bot. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { listening } from './listening.ts';

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
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const body = Buffer.concat(pieces).toString('utf8');
      const path = request.url ?? '';
      const json = (value: unknown, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (path === '/openid') json({ issuer, jwks_uri: `${url}/keys` });
      else if (path === '/keys') json({ keys });
      else if (path === '/token') {
        const form = new URLSearchParams(body);
        const right = form.get('client_id') === appId && form.get('client_secret') === appPassword;
        json(right ? { access_token: 'bot-token', expires_in: 3600 } : { error: 'invalid_client' }, right ? 200 : 401);
      } else {
        answers.push({ path, authorization: request.headers.authorization ?? '', activity: JSON.parse(body) });
        json({ id: 'answer' }, 201);
      }
    })();
  });
  const { url, close } = await listening(server);
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
