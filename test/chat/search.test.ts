/** Members search messages, notes and customers of their own organization, and what is erased is gone. */
import { describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, until } from '../kit/harness.ts';
import { newId } from '../../models/base/ids.ts';

const api = system();
const db = sharedDatabase();
type Hit = {
  conv_id: string;
  in: string;
  message_id: string | null;
  excerpt: string;
  marks: [number, number][];
  at: string;
};

async function fresh() {
  const org = await api.newOrg();
  const { token: key } = await api.newKey(org);
  const say = async (body: string, customer: object = {}) => {
    const session = await api.newSession(org, {
      key,
      body: { customer: { email: 'ada@customer.example', ...customer } },
    });
    const path = `/support/chat/messages/${org.orgId}`;
    const sent = await api.request('POST', path, { token: session.token, body: { body } });
    return { convId: sent.body.conv_id as string, customerId: session.customerId };
  };
  const search = (q: string, more = '', token = key) =>
    api.request('GET', `/support/search/orgs/${org.orgId}?q=${encodeURIComponent(q)}${more}`, { token });
  const hits = async (q: string, more = ''): Promise<Hit[]> => (await search(q, more)).body.hits;
  return { org, key, say, search, hits };
}

describe('GET /support/search/orgs/{orgId}', () => {
  it('a search finds a message at once by whole words, in any case and with or without accents', async () => {
    const { say, hits } = await fresh();
    const { convId } = await say('Wo ist meine neue KARTE für das Geschäft?');
    for (const q of ['karte', 'geschaft KARTE', 'Geschäft'])
      expect((await hits(q)).filter((hit) => hit.in === 'message')).toMatchObject([{ conv_id: convId }]);
    const [hit] = await hits('karte');
    expect(hit!.marks.map(([start, end]) => hit!.excerpt.slice(start, end))).toEqual(['KARTE']);
    expect(await hits('karte parrot')).toEqual([]);
    expect(await hits('kart')).toEqual([]);
  });

  it('a search for several words finds only what has each of them as a whole word', async () => {
    const { org, say, hits } = await fresh();
    const { convId } = await say('Wo ist meine neue KARTE?', { name: 'Grace Hopper', email: 'grace@navy.example' });
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/notes`;
    for (const body of ['Her gondola is late.', 'She asked for two gondolas.'])
      await api.request('POST', path, { token: org.owner.token, body: { body } });
    for (const [q, place] of [
      ['karte meine', 'message'],
      ['hopper grace@navy.example', 'customer'],
      ['gondola', 'note'],
      ['gondola late', 'note'],
    ])
      expect([q, (await hits(q!)).map((hit) => hit.in)]).toEqual([q, [place]]);
    for (const q of ['kart meine', 'hopp grace', 'ace@navy.example', 'gondol late'])
      expect([q, await hits(q)]).toEqual([q, []]);
  });

  it('a search for several words passes over newer messages that have only parts of the words', async () => {
    const { say, hits } = await fresh();
    const { convId } = await say('My kart has a flat tyre.');
    for (let at = 0; at < 3; at += 1) await say(`My kartoffel ${at}.`, { email: `c${at}@customer.example` });
    const found = await hits('kart my', '&limit=1');
    expect(found.map((hit) => hit.conv_id)).toEqual([convId]);
  });

  it('a search for the words of a note, or for a customer’s name, address or id, finds the conversation', async () => {
    const { org, say, hits } = await fresh();
    const { convId, customerId } = await say('Hello?', { name: 'Grace Hopper', email: 'grace@navy.example' });
    const note = { body: 'She called about the zeppelin.' };
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/notes`;
    await api.request('POST', path, { token: org.owner.token, body: note });
    expect(await hits('zeppelin')).toMatchObject([{ conv_id: convId, in: 'note', message_id: null }]);
    for (const q of ['hopper', 'grace@navy.example', 'Hopper Grace', customerId])
      expect(await hits(q)).toMatchObject([
        { conv_id: convId, in: 'customer', excerpt: 'Grace Hopper, grace@navy.example' },
      ]);
  });

  it('a search for the address that a customer gave in the chat shows that address', async () => {
    const { say, hits } = await fresh();
    const { convId, customerId } = await say('Hello?', { name: 'Grace Hopper', email: 'grace@navy.example' });
    const customers = db().collection<{ _id: string }>('customers');
    await customers.updateOne({ _id: customerId }, { $set: { contact_email: 'hopper@home.example' } });
    const found = async () => (await hits('hopper@home.example')).map(({ conv_id, excerpt }) => [conv_id, excerpt]);
    expect(await found()).toEqual([[convId, 'Grace Hopper, grace@navy.example, hopper@home.example']]);
    await customers.updateOne({ _id: customerId }, { $unset: { name: '', email: '' } });
    expect(await found()).toEqual([[convId, 'hopper@home.example']]);
  });

  it('when more than 200 customers match by name, a search finds the conversations of the 200 who were seen last', async () => {
    const { org, say, hits } = await fresh();
    const { convId } = await say('Hello', { name: 'Quentin Quetzal', email: 'quentin@home.example' });
    const seenAt = (last_seen_at: Date) =>
      db()
        .collection<{ _id: string }>('customers')
        .insertMany(
          Array.from({ length: 200 }, () => ({
            _id: newId('customer'),
            org_id: org.orgId,
            mode: 'test',
            name: 'Quentin Quetzal',
            verified: true,
            created_at: last_seen_at,
            last_seen_at,
          })),
        );
    await seenAt(new Date(Date.now() - 86_400_000));
    expect((await hits('quetzal')).map(({ conv_id }) => conv_id)).toEqual([convId]);
    await seenAt(new Date(Date.now() + 86_400_000));
    expect(await hits('quetzal')).toEqual([]);
  });

  it('a search finds the notes of any number of conversations, newest first, each once over all pages, and of a period', async () => {
    const { org, search, hits } = await fresh();
    const begin = Date.now() - 3_600_000;
    // In each conversation, the older of the two notes does not have the word.
    const notes = Array.from({ length: 510 }, (_, n) => ({
      note_id: newId('note'),
      author: org.owner.userId,
      body: `Heffalump ${n}`,
      mentions: [],
      at: new Date(begin + n * 1_000),
    }));
    await db()
      .collection<{ _id: string }>('conversations')
      .insertMany(
        notes.map((note) => ({
          _id: newId('conversation'),
          org_id: org.orgId,
          mode: 'test',
          customer_id: newId('customer'),
          ordinal: 1,
          status: 'open',
          version: 0,
          status_version: 0,
          shown_version: 0,
          unread: 0,
          reads: 0,
          position: 0,
          misses: 0,
          answered: false,
          preview: '',
          events: [],
          notes: [{ ...note, note_id: newId('note'), body: 'Older.', at: new Date(begin - 1_000) }, note],
          created_at: note.at,
          updated_at: note.at,
        })),
      );
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await search('heffalump', `&limit=100${cursor && `&cursor=${cursor}`}`);
      seen.push(...(body.hits as Hit[]).map(({ excerpt }) => excerpt));
      cursor = body.cursor as string | null;
    }
    expect(seen).toEqual(notes.map(({ body }) => body).toReversed());
    const newest = notes.at(-1)!;
    const found = await hits('heffalump', `&from=${newest.at.toISOString()}`);
    expect(found.map(({ excerpt }) => excerpt)).toEqual([newest.body]);
  });

  it('search hits come newest first, each once over all pages, and can be limited to a period', async () => {
    const { say, hits, search } = await fresh();
    const convIds: string[] = [];
    for (let at = 0; at < 7; at += 1) {
      convIds.push((await say(`Needle number ${at}`, { email: `c${at}@customer.example` })).convId);
      await until(async () => (await hits('needle', '&limit=100')).length >= at + 1, 'the message to be found');
    }
    const seen: Hit[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await search('needle', `&limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...(body.hits as Hit[]));
      cursor = body.cursor as string | null;
    }
    const own = seen.filter(({ excerpt }) => excerpt.startsWith('Needle number'));
    expect(own.map(({ conv_id }) => conv_id)).toEqual(convIds.toReversed());
    const middle = own[3]!.at;
    const ids = async (more: string) =>
      (await hits('needle number', more)).filter((hit) => hit.excerpt.startsWith('Needle')).length;
    expect(await ids(`&from=${middle}`)).toBe(4);
    expect(await ids(`&until=${middle}`)).toBe(4);
  });

  it('a search finds nothing of another organization or of the other mode, and another organization’s key gets 404', async () => {
    const { org, say, search } = await fresh();
    await say('The secret pelican.');
    const other = await fresh();
    expect(await other.hits('pelican')).toEqual([]);
    expect((await search('pelican', '', other.key)).status).toBe(404);
    const live = (await api.newKey(org, { mode: 'live' })).token;
    await api.goLive(org);
    expect((await search('pelican', '', live)).body.hits).toEqual([]);
    expect((await search('pelican', '&mode=live', org.owner.token)).body.hits).toEqual([]);
    expect((await search('pelican', '&mode=test', org.owner.token)).body.hits).toHaveLength(1);
  });

  it('punctuation and operators in a query have no special effect, and a query without a word is refused', async () => {
    const { say, search, hits } = await fresh();
    await say('A plain message.');
    for (const q of ['"plain" -message', '$where plain', 'plain\\', '{"$gt":""} plain', 'plain '.repeat(30)])
      expect([q, (await search(q)).status]).toEqual([q, 200]);
    expect(await hits('-plain')).toHaveLength(1);
    for (const q of ['', '"-"', '?', 'x'.repeat(201)]) expect([q, (await search(q)).status]).toEqual([q, 400]);
    expect((await search('plain', '&cursor=nonsense')).status).toBe(400);
  });

  it('after a customer is deleted, their messages and the notes about them are not found any more', async () => {
    const { org, say, hits } = await fresh();
    const { convId, customerId } = await say('The walrus sleeps.', { name: 'Wanda Walrus' });
    const note = { body: 'About the walrus.' };
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/notes`;
    await api.request('POST', path, { token: org.owner.token, body: note });
    expect(await hits('walrus')).toHaveLength(3);
    const erase = `/support/customers/orgs/${org.orgId}/${customerId}`;
    expect((await api.request('DELETE', erase, { token: org.owner.token })).status).toBeLessThan(300);
    await until(async () => (await hits('walrus')).length === 0, 'nothing to be found');
  });
});
