/** The one table of how long records are kept: the indexes, the records and the document agree with it. */
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { expiryOf, kept } from '../../models/rules/base/retention.ts';

const models = new URL('../../models/', import.meta.url);
const names = Object.keys(kept) as (keyof typeof kept)[];

beforeAll(async () => {
  const files = await readdir(models, { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts'))) await import(new URL(file, models).href);
});

/** Meetings are removed by their workflow, which also removes their summaries and tasks. */
const byWorkflow = new Set(['meetings']);

describe('the table of retention', () => {
  it.each(names.filter((name) => !byWorkflow.has(name)))(
    'MongoDB itself deletes the records of %s at their expiry, or after the number of days in the table of retention',
    (name) => {
      const model = Object.values(mongoose.models).find(({ collection }) => collection.collectionName === name)!;
      const ttl = model.schema.indexes().filter(([, { expireAfterSeconds }]) => expireAfterSeconds !== undefined);
      expect(ttl).toHaveLength(1);
      // 0 means that the record itself says when it expires.
      expect([0, kept[name].days * 86_400]).toContain(ttl[0]![1].expireAfterSeconds);
    },
  );

  it('a record expires as many days after its start time as the table of retention says', () => {
    const at = new Date('2026-01-01T00:00:00Z');
    for (const name of names) expect((expiryOf(name, at).getTime() - at.getTime()) / 86_400_000).toBe(kept[name].days);
  });

  it('docs/operating.md shows every row of the table of retention', async () => {
    const text = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    for (const name of names) {
      const { days, from, why } = kept[name];
      const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` `));
      expect(row?.split('|').map((cell) => cell.trim())).toEqual(['', `\`${name}\``, String(days), from, why, '']);
    }
  });
});
