/** Passages: chunks joined with their sources, in their current state in MongoDB. */
import { findChunks, type Chunk } from './chunk.ts';
import { findSources } from './document.ts';
import { findPageSources } from './page.ts';
import { documentTitle } from '../rules/knowledge/document.ts';
import { effectiveAuthority, isPage, type Authority } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { sourceOf, type Passage } from '../rules/knowledge/retrieval.ts';
import { defined } from '../rules/base/defined.ts';

type AnsweringSource = {
  name: string;
  title?: string;
  url?: string | undefined;
  dated?: Date;
  segments: readonly string[];
  authority?: Authority | undefined;
  live_generation?: number | undefined;
  embedded_by?: string | undefined;
};

/**
 * The passages with these chunk ids that exist in this organization and mode, and belong to the live generation of
 * their source. Segments and authority come from the source's record, so a change applies at once.
 */
export async function findPassages(orgId: string, mode: Mode, chunkIds: readonly string[]): Promise<Passage[]> {
  // A chunk id begins with its source's id, so that chunks and sources are read in parallel.
  const sourceIds = [...new Set(chunkIds.map(sourceOf))];
  const [chunks, documents, pages] = await Promise.all([
    findChunks(orgId, mode, chunkIds),
    findSources(
      orgId,
      mode,
      sourceIds.filter((id) => !isPage(id)),
    ),
    findPageSources(orgId, mode, sourceIds.filter(isPage)),
  ]);
  const sources = new Map<string, AnsweringSource>([
    ...documents.map(({ filename, created_at, written_at: dated = created_at, public_url: url, ...document }) => {
      const title = document.title ?? documentTitle(filename);
      return [document._id, { ...document, name: filename, title, url, dated }] as const;
    }),
    ...pages.map(({ title, ...page }) => [page._id, { ...page, name: title || page.url }] as const),
  ]);
  return chunks.flatMap((chunk): Passage[] => {
    const source = sources.get(chunk.source_id);
    if (!source || source.live_generation !== chunk.generation) return [];
    return [passageOf(chunk, source)];
  });
}

function passageOf(chunk: Chunk, source: AnsweringSource): Passage {
  const { name, title, url, dated, segments, authority, embedded_by } = source;
  return {
    id: chunk._id,
    source_id: chunk.source_id,
    type: chunk.source_type,
    name,
    ...defined({ title, url }),
    heading: chunk.heading,
    text: chunk.text,
    ...defined({ dated }),
    segments,
    authority: effectiveAuthority(authority, chunk.source_type),
    ...defined({ embedded_by }),
  };
}
