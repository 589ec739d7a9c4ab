/**
 * The support configuration: rules for every field, its secrets, who may take an organization live, and what that
 * changes.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { newCrawler } from '../kit/crawling.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { page, startSite } from '../kit/sites.ts';

const api = system();
const url = 'https://hooks.example.com/tickets';
const secret = 'a secret of the customer';

const db = sharedDatabase();

let org: TestOrg;
let key: string;
beforeEach(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});
const path = () => `/support/config/orgs/${org.orgId}`;
const put = (body: unknown, token = key) => api.request('PUT', path(), { token, body });
const get = async (token = key) => (await api.request('GET', path(), { token })).body.config;

describe('GET /support/config/orgs/{orgId}', () => {
  it('reading the support configuration returns the defaults when nothing was set', async () => {
    const defaults = {
      org_id: org.orgId,
      environment: 'sandbox',
      kb_segment_strict: false,
      outbox_providers: [],
      outbox_webhook_url: null,
      has_outbox_webhook_secret: false,
      allowed_origins: [],
      updated_at: null,
    };
    expect(await get()).toEqual(defaults);
    expect(await get(org.owner.token)).toEqual(defaults);
    const { body } = await api.request('GET', path(), { token: key });
    expect(body).toEqual({ ...defaults, config: defaults });
  });
});

describe('PUT /support/config/orgs/{orgId}', () => {
  it('saving the configuration changes the given fields and keeps the others', async () => {
    expect(
      (await put({ kb_segment_strict: true, allowed_origins: ['https://Shop.example:443', 'http://localhost:5173'] }))
        .status,
    ).toBe(200);
    const { status, body } = await put({ outbox_webhook_url: url });
    expect([status, body.config]).toMatchObject([
      200,
      {
        kb_segment_strict: true,
        allowed_origins: ['https://shop.example', 'http://localhost:5173'],
        outbox_webhook_url: url,
        updated_at: expect.any(String),
      },
    ]);
    expect(body).toEqual({ ...body.config, config: body.config });
    expect(await get()).toEqual(body.config);
    expect((await put({})).body.config).toEqual(body.config);
    expect((await put({ outbox_webhook_url: null })).body.config.outbox_webhook_url).toBeNull();
  });

  it('concurrent changes of different fields of the support configuration are all saved', async () => {
    await Promise.all([
      put({ kb_segment_strict: true }),
      put({ outbox_webhook_url: url }),
      put({ allowed_origins: ['https://a.example'] }),
      put({ outbox_webhook_secret: secret }),
    ]);
    expect(await get()).toMatchObject({
      kb_segment_strict: true,
      outbox_webhook_url: url,
      allowed_origins: ['https://a.example'],
      has_outbox_webhook_secret: true,
    });
  });

  it('saving the configuration requires the webhook secret again for another server, even after the URL was cleared', async () => {
    const own = await api.newOrg();
    const { token } = await api.newKey(own);
    const save = (body: object) => api.request('PUT', `/support/config/orgs/${own.orgId}`, { token, body });
    const elsewhere = { outbox_webhook_url: 'https://collector.example/tickets' };
    expect((await save({ outbox_webhook_url: url, outbox_webhook_secret: secret })).status).toBe(200);
    for (const before of [{}, { outbox_webhook_url: null }]) {
      expect((await save(before)).status).toBe(200);
      const { status, body } = await save(elsewhere);
      expect([status, body.details]).toEqual([
        400,
        [{ path: ['body', 'outbox_webhook_secret'], message: expect.stringContaining('required again') }],
      ]);
    }
    expect((await save({ ...elsewhere, outbox_webhook_secret: secret })).status).toBe(200);
  });

  it('saving the configuration never returns the webhook secret, and stores it encrypted', async () => {
    const { body } = await put({ outbox_webhook_secret: secret });
    expect(body.config.has_outbox_webhook_secret).toBe(true);
    expect(JSON.stringify([body, await get(), await get(org.owner.token)])).not.toContain(secret);
    const stored = await db()
      .collection('support_configs')
      .findOne({ _id: org.orgId as never });
    expect(stored).toMatchObject({ outbox_webhook_secret: expect.any(String) });
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect((await put({ outbox_webhook_secret: null })).body.config.has_outbox_webhook_secret).toBe(false);
  });

  it.each([
    [{ kb_segment_strict: 'yes' }, ['body', 'kb_segment_strict']],
    [{ kb_segment_strict: null }, ['body', 'kb_segment_strict']],
    [{ outbox_providers: ['pigeon'] }, ['body', 'outbox_providers', 0]],
    [{ outbox_providers: 'webhook' }, ['body', 'outbox_providers']],
    [{ outbox_webhook_url: url, outbox_providers: ['webhook', 'webhook'] }, ['body', 'outbox_providers']],
    [{ outbox_webhook_url: 'http://hooks.example.com' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: 'https://u:p@hooks.example.com' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: 'https://169.254.169.254/' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: 'https://[::ffff:10.0.0.1]/' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: `${url}?${'x'.repeat(2048)}` }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: '' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: 'https://hooks.example.com:22/' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_url: 'https://*.example.com/' }, ['body', 'outbox_webhook_url']],
    [{ outbox_webhook_secret: ' '.repeat(16) }, ['body', 'outbox_webhook_secret']],
    [{ outbox_webhook_secret: 'whsec_MTIzNDU2Nzg5' }, ['body', 'outbox_webhook_secret']],
    [{ allowed_origins: ['https://*.example.com'] }, ['body', 'allowed_origins', 0]],
    [{ outbox_webhook_secret: 'too short' }, ['body', 'outbox_webhook_secret']],
    [{ outbox_webhook_secret: 'x'.repeat(257) }, ['body', 'outbox_webhook_secret']],
    [{ outbox_webhook_secret: 'whsec_this is not base64' }, ['body', 'outbox_webhook_secret']],
    [{ allowed_origins: ['https://a.example', 'https://a.example/path'] }, ['body', 'allowed_origins', 1]],
    [{ allowed_origins: ['*'] }, ['body', 'allowed_origins', 0]],
    [{ allowed_origins: Array.from({ length: 51 }, (_, i) => `https://a${i}.example`) }, ['body', 'allowed_origins']],
    [{ environment: 'staging' }, ['body', 'environment']],
    [{ org_id: 'org_other' }, ['body', 'org_id']],
    [{ has_outbox_webhook_secret: true }, ['body', 'has_outbox_webhook_secret']],
  ])('saving the configuration refuses %j with 400 naming the field, and changes nothing', async (body, where) => {
    const answer = await put(body);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', where]);
    expect((await get()).updated_at).toBeNull();
  });

  it.each([
    [['slack'], 'slack'],
    [['linear'], 'linear'],
    [['webhook'], 'webhook'],
    [['webhook', 'slack', 'linear'], 'slack, linear, webhook'],
  ])(
    'saving the configuration refuses the destinations %j with 400 naming those not connected',
    async (outbox_providers, said) => {
      const { status, body } = await put({ outbox_providers });
      expect([status, body.code]).toEqual([400, 'PROVIDER_NOT_CONNECTED']);
      for (const name of said.split(', ')) expect(body.error).toContain(name);
    },
  );

  it('the destination webhook can be selected with a URL and a secret, which then cannot be cleared', async () => {
    const webhook = { outbox_providers: ['webhook'], outbox_webhook_url: url, outbox_webhook_secret: secret };
    expect((await put(webhook)).status).toBe(200);
    const { status, body } = await put({ outbox_webhook_url: null });
    expect([status, body.code]).toEqual([400, 'PROVIDER_NOT_CONNECTED']);
    const unsigned = await put({ outbox_webhook_secret: null });
    expect([unsigned.status, unsigned.body.details[0].path]).toEqual([400, ['body', 'outbox_webhook_secret']]);
    expect((await put({ outbox_webhook_url: null, outbox_webhook_secret: null, outbox_providers: [] })).status).toBe(
      200,
    );
  });

  it('saving the configuration refuses the destination webhook without a secret with 400 naming outbox_webhook_secret', async () => {
    const webhook = { outbox_providers: ['webhook'], outbox_webhook_url: url };
    const { status, body } = await put(webhook);
    expect([status, body.code, body.details[0].path]).toEqual([400, 'VALIDATION', ['body', 'outbox_webhook_secret']]);
    expect((await get()).outbox_providers).toEqual([]);
    await put({ outbox_webhook_secret: secret });
    expect((await put(webhook)).status).toBe(200);
  });

  it('the destination webhook is never stored without a URL, even when both are changed concurrently', async () => {
    await put({ outbox_webhook_secret: secret });
    for (let round = 0; round < 8; round++) {
      await put({ outbox_providers: [], outbox_webhook_url: url });
      const answers = await Promise.all([put({ outbox_providers: ['webhook'] }), put({ outbox_webhook_url: null })]);
      expect(answers.map((a) => a.status).sort()).toEqual([200, 400]);
      const { outbox_providers, outbox_webhook_url } = await get();
      expect(outbox_providers.length > 0).toBe(outbox_webhook_url !== null);
    }
  });
});

describe('going live', () => {
  const setEnvironment = (environment: string, token: string) => put({ environment }, token);

  it('an admin can take an organization live, but a plain member and an API key with all scopes get 403', async () => {
    const [plain, admin] = [await api.join(org), await api.join(org, 'admin')];
    for (const token of [key, plain.token]) {
      const { status, body } = await put({ environment: 'production', kb_segment_strict: true }, token);
      expect([status, body.code]).toEqual([403, 'MISSING_ROLE']);
    }
    expect(await get()).toMatchObject({ environment: 'sandbox', kb_segment_strict: false });
    expect((await setEnvironment('production', admin.token)).body.config.environment).toBe('production');
    expect((await put({ kb_segment_strict: true }, plain.token)).status).toBe(200);
  });

  it('going live makes a live key act in live mode, and going back makes the key act in test mode again', async () => {
    const live = (await api.newKey(org, { mode: 'live' })).token;
    const self = async () => (await api.request('GET', '/support/developer-keys/self', { token: live })).body;
    expect(await self()).toMatchObject({ mode: 'test', environment: 'live', warning: { code: 'LIVE_KEY_NOT_ACTIVE' } });

    expect((await setEnvironment('production', org.owner.token)).status).toBe(200);
    const active = await until(async () => (await self()).mode === 'live' && self(), 'the live key to act live');
    expect(active).toMatchObject({ mode: 'live', environment: 'live' });
    expect(active).not.toHaveProperty('warning');
    expect((await api.request('GET', `/orgs/${org.orgId}`, { token: org.owner.token })).body.data.environment).toBe(
      'production',
    );

    expect((await setEnvironment('sandbox', org.owner.token)).body.config.environment).toBe('sandbox');
    const back = await until(async () => (await self()).mode === 'test' && self(), 'the live key to act as test');
    expect(back.warning.code).toBe('LIVE_KEY_NOT_ACTIVE');
  });

  it('going live does not change how a test key acts', async () => {
    await setEnvironment('production', org.owner.token);
    const live = (await api.newKey(org, { mode: 'live' })).token;
    expect((await api.request('GET', '/support/developer-keys/self', { token: live })).body.mode).toBe('live');
    expect((await api.request('GET', '/support/developer-keys/self', { token: key })).body).toMatchObject({
      mode: 'test',
      environment: 'test',
    });
  });
});

describe('GET|POST /orgs/{orgId}/go-live', () => {
  const goLive = (body: object = {}, token = org.owner.token) =>
    api.request('POST', `/orgs/${org.orgId}/go-live`, { token, body });
  const see = async (token = org.owner.token) =>
    (await api.request('GET', `/orgs/${org.orgId}/go-live`, { token })).body.data;
  const finished = () =>
    until(async () => {
      const state = await see();
      return state.copy?.status === 'finished' && state;
    }, 'the copy to be finished');
  const answer = async (token: string, query: string): Promise<string> =>
    (await api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body: { query } })).body.answer;

  const hours = 'When does the branch in Lisbon open?';
  /** An indexed page and document, and a file that cannot be read. */
  async function filled(): Promise<void> {
    const crawler = await newCrawler(api, { org });
    const site = await startSite({ '/': page('Opening hours', 'The branch in Lisbon opens at half past nine.') });
    try {
      await crawler.crawl(site.url, { segments: ['retail'] });
    } finally {
      await site.close();
    }
    const content = '# Cards\nThe gannet card costs 12 EUR a year.\n';
    const card = await api.upload(
      org.orgId,
      key,
      { name: 'cards.md', content },
      { segments: 'retail', authority: 'primary' },
    );
    await api.processed(org.orgId, key, card.body.document.doc_id);
    const empty = await api.upload(org.orgId, key, { name: 'empty.md', content: '\n\n' });
    expect((await api.processed(org.orgId, key, empty.body.document.doc_id)).status).toBe('failed');
  }

  it('going live copies the test data to live mode in one step, and keeps the test data', async () => {
    await filled();
    await put({ allowed_origins: ['https://shop.example'] });
    expect(await answer(key, hours)).toContain('half past nine');
    const before = await see();
    expect(before).toEqual({
      org_id: org.orgId,
      environment: 'sandbox',
      live: { documents: 0, pages: 0, tools: 0, settings: 1 },
      test: { documents: 2, pages: 1 },
      copy: null,
    });
    const begun = await goLive({ copy_from_test: true });
    expect([begun.status, begun.body.data]).toMatchObject([200, { environment: 'production', copy: {} }]);
    const after = await finished();
    expect(after).toMatchObject({
      live: { documents: 1, pages: 1 },
      test: before.test,
      copy: { documents: 1, pages: 1, left_out: [{ id: expect.stringMatching(/^doc_/), reason: expect.any(String) }] },
    });

    const live = (await api.newKey(org, { mode: 'live' })).token;
    const list = async (what: string) => (await api.request('GET', `/orgs/${org.orgId}/${what}`, { token: live })).body;
    const { documents } = await list('documents');
    const tags = { segments: ['retail'], authority: 'primary', mode: 'live' };
    expect(documents).toMatchObject([{ filename: 'cards.md', ...tags }]);
    await api.processed(org.orgId, live, documents[0].doc_id);
    expect(await answer(live, 'What does the gannet card cost?')).toContain('12 EUR');
    expect(await answer(live, hours)).toContain('half past nine');
    expect((await list('knowledge-base')).entries).toMatchObject([{ segments: ['retail'], mode: 'live' }]);
    expect(await answer(key, 'What does the gannet card cost?')).toContain('12 EUR');

    // Existing live data is neither copied nor indexed again.
    const { requested_at } = after.copy;
    await goLive({ copy_from_test: true });
    const again = await finished();
    expect(again).toMatchObject({ live: { documents: 1, pages: 1 }, copy: { documents: 1, pages: 1 } });
    expect(again.copy.requested_at).not.toBe(requested_at);
    const prune = { token: live, body: {} };
    expect((await api.request('POST', `/orgs/${org.orgId}/knowledge-base/prune`, prune)).body.orphaned).toEqual([]);
  });

  it('going live without copy_from_test copies nothing', async () => {
    await api.upload(org.orgId, key, { name: 'a.md', content: 'The gate is green.' });
    const { body } = await goLive();
    expect(body.data).toMatchObject({
      environment: 'production',
      live: { documents: 0 },
      test: { documents: 1 },
      copy: null,
    });
  });

  it('only an admin can start going live, and every member can see whether the organization is live', async () => {
    const plain = await api.join(org);
    expect((await goLive({}, plain.token)).body.code).toBe('MISSING_ROLE');
    expect((await see(plain.token)).environment).toBe('sandbox');
    expect((await goLive({}, key)).status).toBe(401);
    expect((await goLive({ copy: true })).status).toBe(400);
  });

  it('when the process dies after it has stored that an organization goes live, the test data are still copied to live', async () => {
    const { body } = await api.upload(org.orgId, key, { name: 'a.md', content: 'The gate is green.' });
    await api.processed(org.orgId, key, body.document.doc_id);
    const copyId = `copy_${org.orgId}`;
    const intent = {
      workflow: 'copyTestToLive',
      workflow_id: `live-copy:${copyId}`,
      queue: 'sources',
      args: [{ orgId: org.orgId, copyId }],
      next_at: new Date(0),
      tries: 0,
    };
    const copy = { org_id: org.orgId, mode: 'live', requested_by: org.owner.userId, requested_at: new Date() };
    await db()
      .collection<{ _id: string }>('live_copies')
      .insertOne({ _id: copyId, ...copy, running: true, pending: [intent] } as never);
    expect(await finished()).toMatchObject({ live: { documents: 1 }, copy: { documents: 1, left_out: [] } });
  });
});
