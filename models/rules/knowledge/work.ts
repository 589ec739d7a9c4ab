import type { Mode } from '../access/keys.ts';
import { workOf } from '../base/work.ts';

/**
 * The workflow that reads and indexes a document. `generation` increases each time the document is processed again.
 * `crowded`: the organization has other unprocessed documents, so this document starts in the backlog queue.
 */
export const processDocumentWork = (orgId: string, docId: string, generation: number, { crowded = false } = {}) =>
  workOf('processDocument', 'documents', generation === 1 ? `document:${docId}` : `document:${docId}:${generation}`, [
    { orgId, docId, generation, ...(crowded ? { crowded } : {}) },
  ]);

/** The kind of a source, as it appears in workflow ids that operators see. */
export type SourceNoun = 'document' | 'page';

/**
 * The workflow that writes the tags of a source to the index. `change`: the id of the change; each change of tags has
 * its own workflow.
 */
export const retagSourceWork = (noun: SourceNoun, orgId: string, sourceId: string, change: string) =>
  workOf('retagSource', 'sources', `${noun}:${sourceId}:tags:${change}`, [{ orgId, sourceId }]);

/** The workflow that removes the remaining data of a deleted source. */
export const eraseSourceWork = (noun: SourceNoun, orgId: string, sourceId: string) =>
  workOf('eraseSource', 'sources', `${noun}:${sourceId}:erase`, [{ orgId, sourceId }]);

/**
 * The workflow that copies the test-mode data of an organization to live mode, except data that live mode already has.
 */
export const copyTestToLiveWork = (orgId: string, copyId: string) =>
  workOf('copyTestToLive', 'sources', `live-copy:${copyId}`, [{ orgId, copyId }]);

/** The signal that tells `embedPassages` that published sources have passages to embed. */
export const wakeSignal = 'wake';

/**
 * The workflow that embeds passages. Each organization and mode has one such workflow, so that no two workflows embed
 * the same passages.
 */
export const embedPassagesWork = (orgId: string, mode: Mode) =>
  workOf('embedPassages', 'embedding', `embed:${orgId}.${mode}`, [{ orgId, mode }], wakeSignal);

/**
 * The workflow that repairs the search indexes, merges their fragments, and deletes the bytes of interrupted uploads.
 * The id is also the id of the Temporal Schedule that starts this workflow, and the prefix of the ids of the started
 * workflows.
 */
export const maintainStoresWork = () => workOf('maintainStores', 'maintenance', 'maintain-stores', []);
