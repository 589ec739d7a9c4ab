import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, defaultLimits, defaultServices, environment, readConfig } from '../../config.ts';
import { rateLimit, rateNames, rates } from '../../models/rules/base/rates.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'support-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('docs/configuration.md', () => {
  const text = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '').trim()));
  const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, found]) => found!);
  /** Each variable with its default and meaning. One row may document two variables. */
  const documented = rows.flatMap(([names, defaults, meaning]) =>
    quoted(names!).map((name, index) => ({ name, byDefault: quoted(defaults!)[index], meaning })),
  );

  const variables = documented.filter(({ name }) => /^[A-Z]/.test(name));
  const isService = ({ name }: { name: string }) => Object.hasOwn(defaultServices, name);
  const services = documented.filter(isService);
  const limits = documented.filter((row) => /^[a-z]/.test(row.name) && !isService(row));

  it('docs/configuration.md names exactly the existing environment variables', () => {
    expect(variables.map(({ name }) => name).toSorted()).toEqual(Object.keys(environment.shape).toSorted());
  });

  it('docs/configuration.md states the right number of environment variables, and of those with a standard name', () => {
    const [, all, standard, list = ''] = /^There are (\d+) variables\. (\d+) of them (.+)$/m.exec(text) ?? [];
    const names = quoted(list);
    expect([Number(all), Number(standard)]).toEqual([Object.keys(environment.shape).length, names.length]);
    for (const name of names) expect(environment.shape).toHaveProperty(name);
  });

  it('docs/configuration.md gives the default of every environment variable that is a number', () => {
    const numbers = Object.entries(environment.parse({})).filter(([, value]) => typeof value === 'number');
    const expected = numbers.map(([name, value]) => [name, JSON.stringify(value)]);
    const found = numbers.map(([name]) => [name, variables.find((row) => row.name === name)?.byDefault]);
    expect(found).toEqual(expected);
  });

  it('docs/configuration.md names exactly the existing limits with their defaults', () => {
    const expected = Object.entries(defaultLimits).map(([name, number]) => [name, String(number)]);
    expect(limits.map(({ name, byDefault }) => [name, byDefault]).toSorted()).toEqual(expected.toSorted());
  });

  it('docs/configuration.md names exactly the existing services, each with its default', () => {
    const found = services.map(({ name, byDefault }) => [name, byDefault]);
    expect(found.toSorted()).toEqual(Object.entries(defaultServices).toSorted());
  });

  it('docs/configuration.md says what each rate limit counts, in the words of the table of rates', () => {
    const found = new Map(limits.map(({ name, meaning }) => [name, meaning]));
    expect(rateNames.map((name) => found.get(rateLimit(name)))).toEqual(rateNames.map((name) => rates[name].counts));
  });
});

describe('readConfig', () => {
  it('readConfig returns a frozen configuration when only DATA_DIR is set', () => {
    const config = readConfig({ DATA_DIR: folder });
    expect(config).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      publicUrl: 'http://127.0.0.1:3000',
      searchUri: join(folder, 'search'),
    });
    expect(config.mongodbUri).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    ['PORT', 'eighty'],
    ['PORT', '70000'],
    ['SECRET_KEY', 'short'],
    ['SECRET_KEY', `${'a1'.repeat(32)},short`],
    ['SECRET_KEY', ','],
    ['PUBLIC_URL', 'localhost'],
    ['OIDC_PROVIDERS', '{"google":'],
    ['OIDC_PROVIDERS', '{"google":{"issuer":"x"}}'],
    ['LOG_LEVEL', 'loud'],
    ['TASK_QUEUE_PREFIX', 'a b'],
    ['LIMITS', 'sign_in_per_minute'],
    ['LIMITS', 'sign_in_per_minute=0'],
    ['LIMITS', 'sign_in_per_hour=7'],
    ['LIMITS', 'sandbox_pages=-1'],
    ['LIMITS', 'constructor=1'],
    ['LIMITS', 'requests_per_site=17'],
    ['SERVICE_URLS', 'github'],
    ['SERVICE_URLS', 'github=ftp://files.example'],
    ['SERVICE_URLS', 'github=https://'],
    ['SERVICE_URLS', 'constructor=https://files.example'],
    ['MEETING_BOT_WEBHOOK_SECRET', 'QmFzZTY0IHdpdGhvdXQgcHJlZml4'],
    ['EMBEDDING', 'models'],
    ['EMBEDDING', 'http://one:3000,two:3000'],
    ['EMBEDDING', 'ftp://one'],
    ['EGRESS_ALLOW', '10.0.0.0/8'],
    ['EGRESS_ALLOW', 'hooks.internal,*.internal'],
    ['EGRESS_ALLOW', 'http://hooks.internal'],
  ])('the variable %s=%s is refused with an error that names the variable', (name, value) => {
    expect(() => readConfig({ DATA_DIR: folder, [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ DATA_DIR: folder, [name]: value })).toThrow(name);
  });

  it('EGRESS_ALLOW is parsed as hosts with or without a port', () => {
    const { egressAllow } = readConfig({ DATA_DIR: folder, EGRESS_ALLOW: 'hooks.internal, 10.0.0.7:8080,[::1]:9000' });
    expect(egressAllow).toEqual(['hooks.internal', '10.0.0.7:8080', '[::1]:9000']);
  });

  it.each([
    [undefined, { state: 'embedded', urls: [] }],
    ['off', { state: 'off', urls: [] }],
    ['/models', { state: 'embedded', folder: '/models', urls: [] }],
    ['../models', { state: 'embedded', folder: '../models', urls: [] }],
    ['http://one:3000, https://two', { state: 'embedded', urls: ['http://one:3000', 'https://two'] }],
  ])(
    'EMBEDDING=%s is read as the state, the folder and the addresses of the embedding models',
    (EMBEDDING, expected) => {
      expect(readConfig({ DATA_DIR: folder, EMBEDDING }).embedding).toEqual(expected);
    },
  );

  it('LIMITS sets limits by name: the last of two values counts, and other limits keep their defaults', () => {
    const LIMITS = 'sign_in_per_minute=6, accounts_per_hour=8,sandbox_pages=0,sign_in_per_minute=7';
    const { rates: set, quotas } = readConfig({ DATA_DIR: folder, LIMITS });
    expect([set.sign_in, set.accounts, set.writes]).toEqual([
      { points: 7, seconds: 60 },
      { points: 8, seconds: 3600 },
      { points: 600, seconds: 60 },
    ]);
    expect(quotas.sandbox).toEqual({ documents: 25, knowledge_pages: 0 });
  });

  it('SERVICE_URLS sets addresses by name: the last of two values counts, and others keep their defaults', () => {
    const SERVICE_URLS = 'github=https://one.example, recall=https://eu.example,github=https://two.example/api/';
    const { githubApiUrl, meetingBots, linearApiUrl, s3, sns } = readConfig({ DATA_DIR: folder, SERVICE_URLS });
    expect([githubApiUrl, meetingBots.apiUrl, linearApiUrl]).toEqual([
      'https://two.example/api',
      'https://eu.example',
      defaultServices.linear,
    ]);
    expect([s3.endpoint, sns.certHosts]).toEqual([undefined, []]);
    const own = readConfig({ DATA_DIR: folder, SERVICE_URLS: 's3=http://store:9000,sns=https://topics.example:8443' });
    expect([own.s3.endpoint, own.sns.certHosts]).toEqual(['http://store:9000', ['topics.example:8443']]);
    const chosen = { MEETING_BOT_SERVICE: 'attendee', MEETING_BOT_WEBHOOK_SECRET: 'QmFzZTY0IHdpdGhvdXQgcHJlZml4' };
    const attendee = readConfig({ DATA_DIR: folder, ...chosen });
    expect(attendee.meetingBots.apiUrl).toBe(defaultServices.attendee);
  });

  it('an empty variable counts as unset', () => {
    expect(readConfig({ DATA_DIR: folder, MONGODB_URI: '', PORT: '' })).toMatchObject({
      port: 3000,
      mongodbUri: undefined,
    });
  });

  it('the secret key is stored in DATA_DIR and readable only by its owner', () => {
    const [first, second] = [readConfig({ DATA_DIR: folder }), readConfig({ DATA_DIR: folder })];
    expect(first.secretKeys.map(({ length }) => length)).toEqual([32]);
    expect(second.secretKeys).toEqual(first.secretKeys);
    expect(statSync(join(folder, 'secret.key')).mode & 0o077).toBe(0);
  });

  it('SECRET_KEY may be several keys, of which the first is the current one', () => {
    const SECRET_KEY = ['a1', 'B2'].map((byte) => byte.repeat(32)).join(', ');
    expect(readConfig({ DATA_DIR: folder, SECRET_KEY }).secretKeys).toEqual([
      Buffer.alloc(32, 0xa1),
      Buffer.alloc(32, 0xb2),
    ]);
    expect(existsSync(join(folder, 'secret.key'))).toBe(false);
  });

  it('readConfig fails with an error that says that DATA_DIR cannot be written', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => readConfig({ DATA_DIR: join(folder, 'file', 'inside') })).toThrow('cannot be written');
  });
});
