/** Articles that are being written. Like the member's unsent replies, they are kept while the page is open. */
import { mode, orgId } from './session.ts';

/** `basedOn`: the hash of the stored text that is being changed; empty for a new article. */
export type Article = { title: string; text: string; segments: string; basedOn: string };

const unsaved = new Map<string, Article>();

/**
 * The unsaved article of the current organization and mode. `name`: the id of the document that is being changed, or
 * the question that a new article answers.
 */
export function unsavedArticle(name: string) {
  const key = JSON.stringify([orgId.value, mode.value, name]);
  return {
    get: (): Article | undefined => unsaved.get(key),
    keep: (article: Article): void => void unsaved.set(key, article),
    drop: (): void => void unsaved.delete(key),
  };
}
