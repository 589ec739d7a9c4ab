/**
 * Sealed values are bound to their place, purpose and key. The reseal command seals them again when the key changes.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { allSeals } from '../../cli/operator/secrets.ts';
import { newId } from '../../models/base/ids.ts';
import { renewalTurns } from '../../models/base/lease.ts';
import { resealRecords } from '../../models/base/reseal.ts';
import { createSecretBox, type SecretBox } from '../../models/base/secretbox.ts';
import { collectionOf } from '../../models/base/define.ts';
import { embedSecretPlace, findEmbedSecret, replaceEmbedSecret } from '../../models/access/embedsecret.ts';
import {
  connectIntegration,
  credentialsOf,
  findIntegration,
  IntegrationModel,
  sealCredentials,
  signingPlace,
} from '../../models/integrations/integration.ts';
import { openRoom, tokensOf } from '../../models/interviews/room.ts';
import { findSupportConfig, saveSupportConfig, webhookSecretPlace } from '../../models/integrations/supportconfig.ts';
import { findToolServer, saveToolServer, toolSecretPlace } from '../../models/mcp/server.ts';
import { defaultOutboxState, defaultSettings } from '../../models/rules/integrations/supportconfig.ts';

const database = 'secretbox';
modelsIn(database);
const root = fileURLToPath(new URL('../..', import.meta.url));
const place = { field: 'things.secret', record: 'thing_1' };
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const before = createSecretBox([oldKey]);
const after = createSecretBox([newKey, oldKey]);
const only = createSecretBox([newKey]);
const now = new Date('2026-03-01T12:00:00Z');

describe('a sealed value', () => {
  it('a sealed (encrypted) value opens only for the record and field that it was sealed for', () => {
    const sealed = before.seal('word', place);
    expect(before.open(sealed, place)).toBe('word');
    expect(sealed).not.toBe(before.seal('word', place));
    for (const other of [
      { ...place, record: 'thing_2' },
      { ...place, field: 'things.other' },
      { field: 'things', record: 'secret.thing_1' },
    ])
      expect(() => before.open(sealed, other)).toThrow(/authenticate/);
  });

  it('a sealed (encrypted) value opens with any configured key, and shows whether the newest key sealed it', () => {
    const sealed = before.seal('word', place);
    expect([after.open(sealed, place), after.isNewest(sealed), after.isNewest(after.seal('word', place))]).toEqual([
      'word',
      false,
      true,
    ]);
    expect(() => only.open(sealed, place)).toThrow(/not among the configured ones/);
  });

  it('a sealed (encrypted) value that was modified does not open', () => {
    const sealed = before.seal('word', place);
    for (const changed of ['', 'x', sealed.slice(0, -1), `${sealed.slice(0, 9)}AAAA${sealed.slice(13)}`])
      expect(() => before.open(changed, place)).toThrow();
  });
});

describe('a keyed hash', () => {
  it('a keyed hash is valid for one purpose only, and can still be verified with an older key', () => {
    const [one, other] = [before.mac('one', 'text'), before.mac('other', 'text')];
    expect(one.equals(other)).toBe(false);
    expect(after.macs('one', 'text').map((mac) => mac.equals(one))).toEqual([false, true]);
    const signature = before.sign('one', 'text');
    expect([after, only].map((box) => box.verify('one', 'text', signature))).toEqual([true, undefined]);
    expect([after.verify('one', 'texts', signature), after.verify('other', 'text', signature)]).toEqual([false, false]);
  });
});

/** Creates an organization with a secret of each permanent kind, and a function that reads all of them. */
async function organization(box: SecretBox) {
  const orgId = newId('org');
  const whose = { org_id: orgId, provider: 'linear' } as const;
  const sealed = sealCredentials(whose, { api_key: 'k' }, box);
  const sealed_signing = box.seal('signing', signingPlace(whose));
  await connectIntegration(orgId, 'linear', { account: 'A', settings: {}, sealed, sealed_signing }, now);
  await saveToolServer(
    {
      _id: orgId,
      version: 0,
      connection: 1,
      server_label: '',
      endpoint_url: 'https://tools.example/mcp',
      auth_type: 'oauth2',
      access_token: box.seal('token', toolSecretPlace(orgId, 'access_token')),
      oauth: {
        grant_type: 'client_credentials',
        client_secret: box.seal('client', toolSecretPlace(orgId, 'oauth.client_secret')),
      },
      oauth_state: box.seal('{}', toolSecretPlace(orgId, 'oauth_state')),
      enabled: true,
      rate_limit_per_min: 10,
      tools: [],
      created_at: now,
      updated_at: now,
    },
    0,
  );
  const hook = webhookSecretPlace(orgId);
  const old = { secret: box.seal('former', hook), until: now };
  const settings = { ...defaultSettings, ...defaultOutboxState, outbox_webhook_secret: box.seal('newest', hook) };
  await saveSupportConfig(orgId, 0, { ...settings, outbox_webhook_old_secrets: [old] }, now);
  const embed = embedSecretPlace(orgId, 'test');
  await replaceEmbedSecret(orgId, 'test', box.seal('one', embed), now, now);
  await replaceEmbedSecret(orgId, 'test', box.seal('two', embed), new Date(now.getTime() + 1_000), now);
  const order = {
    _id: newId('interview'),
    org_id: orgId,
    mode: 'test',
    interview_mode: 'solo',
    language: 'en',
    role_title: 'Baker',
    questions: [],
  } as const;
  const tokens = tokensOf(await openRoom({ ...order, questions: [] }, box, now), box);

  async function read(by: SecretBox) {
    const integration = (await findIntegration(orgId, 'linear'))!;
    const server = (await findToolServer(orgId))!;
    const config = await findSupportConfig(orgId);
    const embedded = (await findEmbedSecret(orgId, 'test'))!;
    return [
      credentialsOf({ ...integration, sealed: integration.sealed! }, by),
      by.open(integration.sealed_signing!, signingPlace(whose)),
      by.open(server.access_token!, toolSecretPlace(orgId, 'access_token')),
      by.open(server.oauth!.client_secret!, toolSecretPlace(orgId, 'oauth.client_secret')),
      by.open(server.oauth_state!, toolSecretPlace(orgId, 'oauth_state')),
      by.open(config.outbox_webhook_secret!, hook),
      by.open(config.outbox_webhook_old_secrets[0]!.secret, hook),
      by.open(embedded.secret, embed),
      by.open(embedded.former!.secret, embed),
      tokensOf(await openRoom({ ...order, questions: [] }, by, now), by),
    ];
  }
  const all = [{ api_key: 'k' }, 'signing', 'token', 'client', '{}', 'newest', 'former', 'two', 'one', tokens];
  return { orgId, read, all };
}

/** Runs `support-platform reseal` on the database of this test. */
async function reseal(keys: readonly Buffer[]) {
  const uri = new URL(process.env['TEST_MONGODB_URI']!);
  uri.pathname = `/${database}`;
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    MONGODB_URI: uri.href,
    SECRET_KEY: keys.map((key) => key.toString('hex')).join(),
  };
  const run = promisify(execFile)(process.execPath, ['cli/main.ts', 'reseal', '--json'], { cwd: root, env });
  return run.then(
    ({ stdout }) => ({ code: 0, ...(JSON.parse(stdout) as { resealed: number; unreadable: unknown[] }) }),
    (error: { code: number; stdout: string }) => ({
      code: error.code,
      ...(JSON.parse(error.stdout) as { resealed: number; unreadable: unknown[] }),
    }),
  );
}

describe('reseal', () => {
  it('the command `reseal` encrypts all stored secrets with the new key, so that the old key is no longer needed', async () => {
    const org = await organization(before);
    expect(await org.read(after)).toEqual(org.all);
    await expect(org.read(only)).rejects.toThrow(/not among the configured ones/);
    // The old key, which sealed the values, is not configured.
    expect(await reseal([newKey])).toMatchObject({ code: 1, resealed: 0, unreadable: expect.any(Array) });
    expect(await reseal([newKey, oldKey])).toMatchObject({ code: 0, resealed: 11, unreadable: [] });
    expect(await org.read(only)).toEqual(org.all);
    expect(await reseal([newKey, oldKey])).toMatchObject({ code: 0, resealed: 0 });
  });

  it('the command `reseal` skips credentials while a process renews them', async () => {
    const orgId = newId('org');
    const whose = { org_id: orgId, provider: 'slack' } as const;
    const sealed = sealCredentials(whose, { token: 't' }, before);
    const { _id } = await connectIntegration(orgId, 'slack', { account: 'A', settings: {}, sealed }, now);
    const turns = renewalTurns(_id);
    expect(await turns.claim()).toBe(true);
    const seals = allSeals.find(({ model }) => (model as unknown) === IntegrationModel)!;
    expect(await resealRecords(seals, after)).toEqual({ resealed: 0, left: 1, unreadable: [] });
    expect((await findIntegration(orgId, 'slack'))?.sealed).toBe(sealed);
    await turns.end();
    expect(await resealRecords(seals, after)).toEqual({ resealed: 1, left: 0, unreadable: [] });
    await collectionOf(IntegrationModel).deleteOne({ _id });
  });

  it('the command `reseal` covers every collection that holds encrypted secrets', () => {
    const sources = globSync('models/**/*.ts', { cwd: root }).map((path) => readFileSync(`${root}/${path}`, 'utf8'));
    const sealedIn = sources.flatMap((source) =>
      [...source.matchAll(/\bfield: ['`]([a-z_]+)\./g)].map(([, collection]) => collection!),
    );
    const known = allSeals.map(({ model }) => (model as unknown as typeof IntegrationModel).collection.name);
    expect([...new Set(sealedIn)].toSorted()).toEqual(known.toSorted());
  });

  it('the command `reseal` fails when no configured key decrypts the stored secrets', async () => {
    const org = await organization(createSecretBox([randomBytes(32)]));
    const { code, unreadable } = await reseal([newKey, oldKey]);
    expect([code, unreadable.length]).toEqual([1, 11]);
    expect(unreadable).toContainEqual({ field: 'tool_servers.oauth_state', record: org.orgId });
  });
});
