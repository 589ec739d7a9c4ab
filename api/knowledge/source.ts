/** The workflows that follow a change of a source, a document or a page alike. */
import type { Start } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import { queues } from '../../models/rules/base/work.ts';
import {
  eraseSource,
  eraseSourceWorkflowId,
  retagSource,
  retagWorkflowId,
  type SourceNoun,
} from '../../workflows/knowledge/source.ts';

export const retagging = (
  noun: SourceNoun,
  orgId: string,
  sourceId: string,
): Start<Parameters<typeof retagSource>> => ({
  workflow: retagSource,
  id: retagWorkflowId(noun, sourceId, newId('request')),
  queue: queues.sources,
  args: [{ orgId, sourceId }],
});

export const erasing = (noun: SourceNoun, orgId: string, sourceId: string): Start<Parameters<typeof eraseSource>> => ({
  workflow: eraseSource,
  id: eraseSourceWorkflowId(noun, sourceId),
  queue: queues.sources,
  args: [{ orgId, sourceId }],
});

/** Since when a source is found by meaning, by the present model; null: not yet. */
export const embeddedAt = (
  { embedded_by, embedded_at }: { embedded_by?: string; embedded_at?: Date },
  model: string | undefined,
): string | null =>
  model !== undefined && embedded_by === model && embedded_at !== undefined ? embedded_at.toISOString() : null;
