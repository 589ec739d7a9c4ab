import { describe, it, expect } from '@jest/globals';
import {
  applySettings,
  checkWebhookSecret,
  defaultSettings,
  outboxAfter,
  outboxProviders,
  readOrigin,
  validSecrets,
  webhookUrlProblem,
  type OutboxProvider,
  type OutboxState,
  type SettingsPatch,
} from '../../../models/rules/integrations/supportconfig.ts';

const url = 'https://hooks.example.com/tickets';
const none = { integrations: [], egressAllow: [] };
const apply = (
  patch: SettingsPatch,
  current = {},
  around: { integrations: OutboxProvider[]; egressAllow: string[] } = none,
) => applySettings({ ...defaultSettings, outbox_webhook_origin: null, ...current }, patch, around);

describe('webhookUrlProblem', () => {
  it.each([
    url,
    'https://example.com',
    'https://example.com:8443/a?b=c',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://172.32.0.1/',
    'https://bücher.example/',
  ])('the webhook address %s is accepted', (text) => {
    expect(webhookUrlProblem(text, [])).toBeUndefined();
  });

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'example.com/hooks',
    'https://',
    '',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://:pass@example.com/',
    'https://localhost/',
    'https://localhost./',
    'https://api.localhost/',
    'https://intranet/',
    'https://db.internal/',
    'https://printer.local/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://10.0.0.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://198.18.0.1/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[fe80::1]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:4136:e378::]/',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('the webhook address %s is refused', (text) => {
    expect(webhookUrlProblem(text, [])).toEqual(expect.any(String));
  });

  it('a webhook may use a private host or plain HTTP only when the operator allows that host and port', () => {
    expect(webhookUrlProblem('https://hooks.internal/', ['hooks.internal'])).toBeUndefined();
    expect(webhookUrlProblem('http://hooks.internal/', ['hooks.internal'])).toBeUndefined();
    expect(webhookUrlProblem('http://hooks.internal:8080/', ['hooks.internal:8080'])).toBeUndefined();
    expect(webhookUrlProblem('http://hooks.internal:8081/', ['hooks.internal:8080'])).toBeDefined();
    expect(webhookUrlProblem('https://other.internal/', ['hooks.internal'])).toBeDefined();
    expect(webhookUrlProblem('http://example.com/', ['hooks.internal'])).toBeDefined();
    expect(webhookUrlProblem('ftp://hooks.internal/', ['hooks.internal'])).toBeDefined();
  });
});

describe('readOrigin', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['HTTPS://Example.COM', 'https://example.com'],
    ['https://example.com:443', 'https://example.com'],
    ['https://example.com:8443', 'https://example.com:8443'],
    ['http://localhost:5173', 'http://localhost:5173'],
  ])('the text %s is read as the origin %s', (text, origin) => {
    expect(readOrigin(text)).toBe(origin);
  });

  it.each([
    '*',
    'example.com',
    'https://',
    'https://example.com/',
    'https://example.com/a',
    'https://example.com?x',
    'https://example.com#x',
    'https://u@example.com',
    'file:///etc',
    'null',
    'https://exa mple.com',
    'https://*.example.com:x',
    'https://*.example.com',
    'https://*',
  ])('the text %j is not a valid origin', (text) => {
    expect(readOrigin(text)).toBeUndefined();
  });
});

describe('applySettings', () => {
  it('a settings patch changes only the fields that it contains', () => {
    const current = {
      ...defaultSettings,
      kb_segment_strict: true,
      outbox_webhook_url: url,
      allowed_origins: ['https://a.example'],
    };
    expect(apply({}, current)).toEqual(current);
    expect(apply({ kb_segment_strict: false }, current)).toEqual({
      ...current,
      kb_segment_strict: false,
    });
  });

  const selections = outboxProviders.flatMap((provider) => [
    [provider, { integrations: [] as OutboxProvider[], url: null }, false] as const,
    [provider, { integrations: [] as OutboxProvider[], url }, provider === 'webhook'] as const,
    [provider, { integrations: ['slack', 'linear'] as OutboxProvider[], url: null }, provider !== 'webhook'] as const,
    [provider, { integrations: ['slack', 'linear'] as OutboxProvider[], url }, true] as const,
  ]);
  it.each(selections)(
    '%s may be selected to receive tickets while the connected integrations and the webhook address are %j: %s',
    (provider, connected, allowed) => {
      const select = () =>
        apply(
          { outbox_providers: [provider] },
          { outbox_webhook_url: connected.url, outbox_webhook_secret: 'sealed' },
          { integrations: connected.integrations, egressAllow: [] },
        );
      if (allowed) expect(select().outbox_providers).toEqual([provider]);
      else
        expect(select).toThrow(
          expect.objectContaining({ code: 'PROVIDER_NOT_CONNECTED', message: expect.stringContaining(provider) }),
        );
    },
  );

  it('one update of the settings may select the webhook and set its address and secret', () => {
    const patch = { outbox_providers: ['webhook'], outbox_webhook_url: url, outbox_webhook_secret: 'sealed' } as const;
    expect(apply({ ...patch, outbox_providers: [...patch.outbox_providers] })).toMatchObject(patch);
  });

  const webhook = { outbox_providers: ['webhook'], outbox_webhook_url: url };
  const sealed = { outbox_webhook_secret: 'sealed' };
  it.each<[string, SettingsPatch, object, boolean]>([
    ['selected without a secret', { outbox_providers: ['webhook'] }, { outbox_webhook_url: url }, false],
    ['selected with a stored secret', { outbox_providers: ['webhook'] }, { outbox_webhook_url: url, ...sealed }, true],
    ['selected with a sent secret', { outbox_providers: ['webhook'], ...sealed }, { outbox_webhook_url: url }, true],
    ['its secret cleared while it is selected', { outbox_webhook_secret: null }, { ...webhook, ...sealed }, false],
    ['its secret changed while it is selected', { outbox_webhook_secret: 'new' }, { ...webhook, ...sealed }, true],
    ['its secret cleared as it is left out', { outbox_providers: [], outbox_webhook_secret: null }, webhook, true],
    ['selected before secrets were required, another field', { kb_segment_strict: true }, webhook, true],
  ])(
    'a webhook can be selected only with a secret, and a selected webhook cannot lose its secret: %s',
    (_, patch, current, allowed) => {
      if (allowed) expect(apply(patch, current)).toMatchObject(patch);
      else
        expect(() => apply(patch, current)).toThrow(
          expect.objectContaining({
            code: 'VALIDATION',
            details: [{ path: ['body', 'outbox_webhook_secret'], message: expect.any(String) }],
          }),
        );
    },
  );

  it('the webhook secret can be changed while a selected integration is disconnected', () => {
    expect(apply(sealed, { outbox_providers: ['slack'] }).outbox_webhook_secret).toBe('sealed');
  });

  it('the webhook address cannot be removed while the webhook is selected', () => {
    const current = { outbox_providers: ['webhook'], outbox_webhook_url: url };
    expect(() => apply({ outbox_webhook_url: null }, current)).toThrow(
      expect.objectContaining({ code: 'PROVIDER_NOT_CONNECTED', status: 400 }),
    );
    expect(apply({ outbox_webhook_url: null, outbox_providers: [] }, current).outbox_webhook_url).toBeNull();
  });

  it('other settings can be changed while a selected integration is disconnected', () => {
    expect(apply({ kb_segment_strict: true }, { outbox_providers: ['slack'] }).kb_segment_strict).toBe(true);
  });

  it('a refused settings patch lists every invalid field', () => {
    const bad = () =>
      apply({
        outbox_webhook_url: 'http://example.com',
        outbox_providers: ['webhook', 'webhook'],
        allowed_origins: ['https://a.example', 'b'],
      });
    expect(bad).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        details: [
          { path: ['body', 'outbox_providers'], message: expect.any(String) },
          { path: ['body', 'outbox_webhook_url'], message: expect.any(String) },
          { path: ['body', 'allowed_origins', 1], message: expect.any(String) },
        ],
      }),
    );
  });

  it('allowed origins are normalized and deduplicated', () => {
    expect(apply({ allowed_origins: ['https://A.example', 'https://a.example:443'] }).allowed_origins).toEqual([
      'https://a.example',
    ]);
  });
});

describe('checkWebhookSecret', () => {
  it.each([
    null,
    undefined,
    'any text that is long enough',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_c2VjcmV0IG9mIG1pbmUhISE=',
    'whsec_MDEyMzQ1Njc4OWFiY2RlZg==',
  ])('the webhook secret %j is accepted', (secret) => {
    expect(() => checkWebhookSecret(secret)).not.toThrow();
  });
  it.each([
    'whsec_',
    'whsec_c2VjcmV0IG9mIG1pbmU=',
    ' '.repeat(20),
    'whsec_not base64 at all',
    'whsec_äöü',
    'whsec_abcde',
  ])('the webhook secret %j is refused', (secret) => {
    expect(() => checkWebhookSecret(secret)).toThrow(expect.objectContaining({ code: 'VALIDATION' }));
  });
});

describe('a stored secret', () => {
  const stored = { outbox_webhook_secret: 'sealed', outbox_webhook_origin: 'https://hooks.example.com' };
  const other = { outbox_webhook_url: 'https://collector.example/tickets' };

  it.each([
    ['another path', { outbox_webhook_url: `${url}/all` }],
    ['no address', { outbox_webhook_url: null }],
    ['another origin with a secret', { ...other, outbox_webhook_secret: 'given' }],
    ['another origin without any secret', { ...other, outbox_webhook_secret: null }],
  ])('with a stored webhook secret, the webhook address may be changed to %s', (_, patch) => {
    expect(apply(patch, { ...stored, outbox_webhook_url: url }).outbox_webhook_url).toBe(patch.outbox_webhook_url);
  });

  it.each([
    ['another host', other, url],
    ['another port', { outbox_webhook_url: 'https://hooks.example.com:8443/tickets' }, url],
    ['another host after the address was taken away', other, null],
  ])('the webhook secret must be sent again when the address is changed to %s', (_, patch, before) => {
    expect(() => apply(patch, { ...stored, outbox_webhook_url: before })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        details: [{ path: ['body', 'outbox_webhook_secret'], message: expect.stringContaining('required again') }],
      }),
    );
  });

  it('a webhook secret that was stored before any address is used for the first address', () => {
    expect(apply(other, { outbox_webhook_secret: 'sealed' })).toMatchObject(other);
  });
});

describe('outboxAfter', () => {
  const now = new Date('2026-11-22T10:00:00Z');
  const hour = 3_600_000;
  const later = (hours: number) => new Date(now.getTime() + hours * hour);
  const current: OutboxState & { outbox_webhook_secret: string; outbox_webhook_url: string | null } = {
    outbox_webhook_url: null,
    outbox_webhook_secret: 'first',
    outbox_version: 3,
    outbox_webhook_old_secrets: [],
    outbox_webhook_origin: null,
  };

  it.each([
    ['the address', { outbox_webhook_url: url }, 4],
    ['the address taken away', { outbox_webhook_url: null }, 4],
    ['the destinations', { outbox_providers: [] }, 4],
    ['the secret', { outbox_webhook_secret: 'second' }, 4],
    ['another field', { kb_segment_strict: true }, 3],
  ])('only a change of the outbox settings increases the version of the outbox: %s', (_, patch, version) => {
    expect(outboxAfter(current, patch, now).outbox_version).toBe(version);
  });

  it('the replaced webhook secret stays valid beside the new one for a day', () => {
    const state = outboxAfter(current, { outbox_webhook_secret: 'second' }, now);
    const after = { ...current, ...state, outbox_webhook_secret: 'second' };
    expect(validSecrets(after, later(23.9))).toEqual(['second', 'first']);
    expect(validSecrets(after, later(24))).toEqual(['second']);
    const third = {
      ...after,
      ...outboxAfter(after, { outbox_webhook_secret: 'third' }, later(1)),
      outbox_webhook_secret: 'third',
    };
    expect(validSecrets(third, later(2))).toEqual(['third', 'second', 'first']);
    expect(validSecrets(third, later(24.5))).toEqual(['third', 'second']);
  });

  it('at most four replaced webhook secrets stay valid', () => {
    let state = { ...current };
    for (const next of ['2', '3', '4', '5', '6', '7']) {
      const patch = { outbox_webhook_secret: next };
      state = { ...state, ...outboxAfter(state, patch, now), ...patch };
    }
    expect(validSecrets(state, now)).toEqual(['7', '6', '5', '4', '3']);
  });

  it('once the webhook secret is removed, no replaced secret is valid any more', () => {
    const patch = { outbox_webhook_secret: null };
    const gone = { ...current, ...outboxAfter({ ...current, outbox_webhook_secret: 'second' }, patch, now), ...patch };
    expect(validSecrets(gone, now)).toEqual([]);
    const fresh = {
      ...gone,
      ...outboxAfter(gone, { outbox_webhook_secret: 'third' }, now),
      outbox_webhook_secret: 'third',
    };
    expect(validSecrets(fresh, now)).toEqual(['third']);
  });

  it.each([
    ['the first address of all', { outbox_webhook_url: url }, 'https://hooks.example.com'],
    ['no address', { outbox_webhook_url: null }, null],
    ['no secret any more', { outbox_webhook_url: url, outbox_webhook_secret: null }, null],
    ['a secret before its address', { outbox_webhook_secret: 'second' }, null],
  ])('the webhook secret is bound to the origin of the webhook address once both are set: %s', (_, patch, origin) => {
    expect(outboxAfter(current, patch, now).outbox_webhook_origin).toBe(origin);
  });

  it('replaced webhook secrets stay valid while the address keeps its origin, and not after it changes', () => {
    const at = { ...current, outbox_webhook_url: url, outbox_webhook_origin: 'https://hooks.example.com' };
    const replaced = {
      ...at,
      ...outboxAfter(at, { outbox_webhook_secret: 'second' }, now),
      outbox_webhook_secret: 'second',
    };
    expect(validSecrets(replaced, now)).toEqual(['second', 'first']);
    const path = { outbox_webhook_url: 'https://hooks.example.com/other' };
    expect(outboxAfter(replaced, path, now)).toMatchObject({
      outbox_webhook_origin: 'https://hooks.example.com',
      outbox_webhook_old_secrets: [{ secret: 'first' }],
    });
    const elsewhere = { outbox_webhook_url: 'https://hooks.example.com:8443/', outbox_webhook_secret: 'third' };
    expect(outboxAfter(replaced, elsewhere, now)).toMatchObject({
      outbox_webhook_origin: 'https://hooks.example.com:8443',
      outbox_webhook_old_secrets: [],
    });
  });

  it('setting the same webhook secret again replaces nothing', () => {
    expect(outboxAfter(current, { outbox_webhook_secret: 'first' }, now).outbox_webhook_old_secrets).toEqual([]);
  });
});
