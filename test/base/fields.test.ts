/**
 * Field definitions (models/rules/base/fields.ts): the type derived from them, and the values that are refused before a
 * record is stored.
 */
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { CrawlModel } from '../../models/crawl/crawl.ts';
import { LiveCopyModel } from '../../models/knowledge/livecopy.ts';
import { PageModel, type Page } from '../../models/knowledge/page.ts';
import { ToolServerModel } from '../../models/mcp/server.ts';
import {
  date,
  embedded,
  flag,
  list,
  mixed,
  nullable,
  number,
  oneOf,
  optional,
  string,
  type RecordWith,
} from '../../models/rules/base/fields.ts';

/**
 * Is `true` when both types are assignable to each other. With exact optional fields they then have the same fields.
 */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

const now = new Date('2026-11-24T00:00:00Z');
const page: Page = {
  _id: 'page_1',
  org_id: 'org_1',
  mode: 'live',
  url: 'https://example.com/',
  title: 'Help',
  segments: [],
  live: true,
  crawl_id: 'crawl_1',
  generation: 1,
  chunk_count: 0,
  content_sha256: '0'.repeat(64),
  crawled_at: now,
  tags_version: 0,
  created_at: now,
  updated_at: now,
};
const faultsOf = (record: object): string[] => Object.keys(new PageModel(record).validateSync()?.errors ?? {});

describe('the type of a record', () => {
  it('the type of a record has exactly the defined fields, each required, optional or nullable as defined', () => {
    const fields = {
      name: string,
      mode: oneOf(['live', 'test']),
      seen: optional(date),
      ended: nullable(date),
      running: flag,
      sizes: list(embedded({ width: number, unit: optional(oneOf(['px', 'em'])) })),
      settings: mixed<{ theme: string }>(),
    };
    type Written = {
      name: string;
      mode: 'live' | 'test';
      seen?: Date;
      ended: Date | null;
      running?: true;
      sizes: { width: number; unit?: 'px' | 'em' }[];
      settings: { theme: string };
    };
    const same: Same<RecordWith<typeof fields>, Written> = true;
    expect(same).toBe(true);
  });
});

describe('a record that is created', () => {
  it('a new record with valid fields is accepted unchanged', () => expect(faultsOf(page)).toEqual([]));

  it.each<[fault: string, change: Record<string, unknown>, field: string]>([
    ['lacks a required field', { url: undefined }, 'url'],
    ['has the empty string where a string is required', { url: '' }, 'url'],
    ['has a value that is not in the list of allowed values', { mode: 'staging' }, 'mode'],
    ['has a value of another type', { generation: 'first' }, 'generation'],
    [
      'has a value that is not in the list of allowed values of an optional field',
      { authority: 'highest' },
      'authority',
    ],
  ])('a new record is refused when it %s', (_, change, field) =>
    expect(faultsOf({ ...page, ...change })).toEqual([field]),
  );

  it('a text or list that is not given is empty in the new record', () => {
    const { title: _title, segments: _segments, ...rest } = page;
    expect(new PageModel(rest).toObject()).toMatchObject({ title: '', segments: [] });
  });

  it('a new record drops fields that the model does not have', () =>
    expect(new PageModel({ ...page, colour: 'red' }).toObject()).not.toHaveProperty('colour'));

  it.each([
    [CrawlModel.modelName, 'cancelled_by'],
    [LiveCopyModel.modelName, 'left_out'],
    [LiveCopyModel.modelName, 'running'],
    [ToolServerModel.modelName, 'oauth'],
  ])('a new record of the model %s has no field %s when no value is given for this field', (model, field) =>
    expect(new (mongoose.model(model))({ _id: 'x' }).toObject()).not.toHaveProperty(field),
  );
});
