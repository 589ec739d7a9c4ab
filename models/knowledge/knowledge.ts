/** Passages: chunks joined with their sources, in their current state in MongoDB. */
import { findChunks } from './chunk.ts';
import { findSources } from './document.ts';
import { findPageSources } from './page.ts';
import { documentTitle } from '../rules/knowledge/document.ts';
import { effectiveAuthority, isPage } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { sourceOf, type Passage } from '../rules/knowledge/retrieval.ts';
import { defined } from '../rules/base/defined.ts';

type Found = Awaited<ReturnType<typeof findSources | typeof findPageSources>>[number];

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
  const sources = new Map<string, Found>([...documents, ...pages].map((source) => [source._id, source]));
  return chunks.flatMap(({ _id: id, source_id, source_type: type, generation, heading, text }): Passage[] => {
    const source = sources.get(source_id);
    if (!source || source.live_generation !== generation) return [];
    const { segments, embedded_by } = source;
    const authority = effectiveAuthority(source.authority, type);
    return [
      { id, source_id, type, ...namesOf(source), heading, text, segments, authority, ...defined({ embedded_by }) },
    ];
  });
}

/** The fields of a passage that tell customers where it is from. */
function namesOf(source: Found): Pick<Passage, 'name' | 'title' | 'url' | 'dated'> {
  if ('live' in source) return { name: source.title || source.url, url: source.url };
  const { filename: name, title = documentTitle(name), public_url: url, created_at, written_at = created_at } = source;
  return { name, title, ...defined({ url }), dated: written_at };
}
