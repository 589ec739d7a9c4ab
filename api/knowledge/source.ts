/** The workflows that follow a change of a source, a document or a page alike. */
import type { Start } from '../durable.ts';
import { newId } from '../../models/base/ids.ts';
import { queues } from '../../workflows/queues.ts';
import { eraseSource, retagSource } from '../../workflows/source.ts';

/** `noun` is `document` or `page`, as in the workflow ids that operators see. */
export const retagging = (noun: string, orgId: string, sourceId: string): Start<Parameters<typeof retagSource>> => ({
  workflow: retagSource,
  // Each change of tags is a piece of work of its own.
  id: `${noun}:${sourceId}:tags:${newId('request')}`,
  queue: queues.sources,
  args: [{ orgId, sourceId }],
});

export const erasing = (noun: string, orgId: string, sourceId: string): Start<Parameters<typeof eraseSource>> => ({
  workflow: eraseSource,
  id: `${noun}:${sourceId}:erase`,
  queue: queues.sources,
  args: [{ orgId, sourceId }],
});
