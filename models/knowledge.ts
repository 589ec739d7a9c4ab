/** What may answer: passages joined with the sources they are of, as both are now. */
import { findChunks } from './chunk.ts';
import { findSources } from './document.ts';
import { effectiveAuthority } from './rules/authority.ts';
import type { Mode } from './rules/keys.ts';
import type { Passage } from './rules/retrieval.ts';

/**
 * The passages of these chunk ids that exist, are of this organization and mode, and belong to their source's live
 * generation. Segments and authority are the source's own, so a change of either holds at once.
 */
export async function findPassages(orgId: string, mode: Mode, chunkIds: readonly string[]): Promise<Passage[]> {
  // A chunk's id begins with its source's, so both can be read at the same time.
  const sourceIds = [...new Set(chunkIds.map((id) => id.slice(0, id.indexOf(':'))))];
  const [chunks, documents] = await Promise.all([
    findChunks(orgId, mode, chunkIds),
    findSources(orgId, mode, sourceIds),
  ]);
  const sources = new Map(documents.map((d) => [d._id, d]));
  return chunks.flatMap((chunk): Passage[] => {
    const source = sources.get(chunk.source_id);
    if (!source || source.live_generation !== chunk.generation) return [];
    return [
      {
        id: chunk._id,
        source_id: chunk.source_id,
        type: chunk.source_type,
        name: source.filename,
        heading: chunk.heading,
        text: chunk.text,
        segments: source.segments,
        authority: effectiveAuthority(source.authority, chunk.source_type),
      },
    ];
  });
}
