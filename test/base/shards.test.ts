/** The shard keys: which collections have one, that unique indexes allow it, and which queries ask all shards. */
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { collectionOf } from '../../models/base/define.ts';
import { MessageModel } from '../../models/chat/message.ts';
import { FrontierModel } from '../../models/crawl/frontier.ts';
import { shardKeys } from '../../models/rules/base/shards.ts';

const root = new URL('../../', import.meta.url);
const rooms = ['api', 'activities', 'agent', 'cli', 'models', 'providers', 'workers', 'workflows'];

beforeAll(async () => {
  const models = new URL('models/', root);
  const files = await readdir(models, { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts'))) await import(new URL(file, models).href);
});

describe('shard keys', () => {
  it.each(Object.entries(shardKeys))(
    'every unique index of the sharded collection %s begins with its shard key, as MongoDB requires',
    (name, key) => {
      const { schema } = Object.values(mongoose.models).find(({ collection }) => collection.collectionName === name)!;
      const fields = Object.keys(key);
      for (const field of fields) expect(schema.path(field)).toBeDefined();
      const unique = schema.indexes().filter(([, options]) => options['unique']);
      if (unique.length > 0) expect(Object.values(key)).not.toContain('hashed');
      for (const [index] of unique) expect(Object.keys(index).slice(0, fields.length)).toEqual(fields);
    },
  );

  it('the compiler refuses a query of a sharded collection that does not name its shard', () => {
    const messages = collectionOf(MessageModel);
    const calls = () => [
      // @ts-expect-error: without an organization
      messages.findOne({ _id: 'msg_1' }),
      // @ts-expect-error: a range of organizations
      messages.updateMany({ org_id: { $gt: '' } }, { $unset: { shown: 1 } }),
      // @ts-expect-error: one of the writes
      messages.bulkWrite([{ deleteOne: { filter: { _id: 'msg_1' } } }]),
      // @ts-expect-error: a pipeline that does not begin with the organization
      messages.aggregate([{ $group: { _id: '$org_id' } }]),
      // @ts-expect-error: the organization of a collection that is sharded by crawls
      collectionOf(FrontierModel).deleteMany({ org_id: 'org_1' }),
      messages.findOne({ org_id: 'org_1', _id: 'msg_1' }),
    ];
    expect(calls).toHaveLength(0);
  });

  it('docs/scaling.md shows the shard keys, and names each file that asks all shards', async () => {
    const text = await readFile(new URL('docs/scaling.md', root), 'utf8');
    for (const [name, key] of Object.entries(shardKeys)) {
      const row = text.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``));
      expect(row).toContain(
        `\`${JSON.stringify(key).replaceAll('"', '').replaceAll(',', ', ').replaceAll(':', ': ')}\``,
      );
    }
    const files = (await Promise.all(rooms.map((room) => readdir(new URL(room, root), { recursive: true })))).flatMap(
      (found, at) => found.filter((file) => file.endsWith('.ts')).map((file) => `${rooms[at]}/${file}`),
    );
    const asking: string[] = [];
    for (const file of files)
      if (/\bacrossShards[(<]/u.test(await readFile(new URL(file, root), 'utf8'))) asking.push(file);
    const across = text.slice(text.indexOf('These ask all shards'), text.indexOf('## How much for how many'));
    const named = [...across.matchAll(/`((?:models|cli)\/[\w/]+\.ts)`/gu)].map(([, file]) => file!);
    expect(named.toSorted()).toEqual(asking.filter((file) => file !== 'models/base/define.ts').toSorted());
  });
});
