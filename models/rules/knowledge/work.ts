/** What is started for documents and other sources, and for the stores that hold them. Pure. */
import type { Mode } from '../access/keys.ts';
import { workOf } from '../base/work.ts';

/**
 * Reads and indexes a document. `generation` increases each time the document is processed again. `crowded`: the organization has
 * others that are not processed yet, so this one waits in the backlog from the beginning.
 */
export const processDocumentWork = (orgId: string, docId: string, generation: number, { crowded = false } = {}) =>
  workOf({
    workflow: 'processDocument',
    id: generation === 1 ? `document:${docId}` : `document:${docId}:${generation}`,
    queue: 'documents',
    args: [{ orgId, docId, generation, ...(crowded ? { crowded } : {}) }],
  });

/** The kind of a source, as it appears in workflow ids that operators see. */
export type SourceNoun = 'document' | 'page';

/** Writes the tags of a source to the index. `change`: each change of tags has a workflow of its own. */
export const retagSourceWork = (noun: SourceNoun, orgId: string, sourceId: string, change: string) =>
  workOf({
    workflow: 'retagSource',
    id: `${noun}:${sourceId}:tags:${change}`,
    queue: 'sources',
    args: [{ orgId, sourceId }],
  });

/** Removes what a deleted source has left. */
export const eraseSourceWork = (noun: SourceNoun, orgId: string, sourceId: string) =>
  workOf({
    workflow: 'eraseSource',
    id: `${noun}:${sourceId}:erase`,
    queue: 'sources',
    args: [{ orgId, sourceId }],
  });

/** Takes what is in test mode over into live mode. */
export const copyTestToLiveWork = (orgId: string, copyId: string) =>
  workOf({ workflow: 'copyTestToLive', id: `live-copy:${copyId}`, queue: 'sources', args: [{ orgId, copyId }] });

/** Sources were published. */
export const wakeSignal = 'wake';

/** Embeds passages. One workflow per organization and mode, so that two never write vectors of the same passages. */
export const embedPassagesWork = (orgId: string, mode: Mode) =>
  workOf({
    workflow: 'embedPassages',
    id: `embed:${orgId}.${mode}`,
    queue: 'embedding',
    args: [{ orgId, mode }],
    signal: wakeSignal,
  });

/** Keeps the stores tidy. The id is also that of the Temporal Schedule, and what the ids of its workflows begin with. */
export const maintainStoresWork = () =>
  workOf({ workflow: 'maintainStores', id: 'maintain-stores', queue: 'maintenance', args: [] });
