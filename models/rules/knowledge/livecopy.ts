/** Compares live mode with test mode: what an organization can still copy to live mode. Pure. */
import { checkQuota, type Quotas } from './quota.ts';
import { defaultSettings, type SupportSettings } from '../integrations/supportconfig.ts';

/** The number of settings that differ from their defaults. Both modes share the settings, so they are not copied. */
export const settingsChanged = (settings: SupportSettings): number =>
  (Object.keys(defaultSettings) as (keyof SupportSettings)[]).filter(
    (name) => JSON.stringify(settings[name]) !== JSON.stringify(defaultSettings[name]),
  ).length;

type Told = { key: string };

/** The number of entries of test mode (`there`) that live mode does not have. */
export function missing(there: readonly Told[], live: readonly Told[]): number {
  const known = new Set(live.map(({ key }) => key));
  return there.filter(({ key }) => !known.has(key)).length;
}

/**
 * Throws when the quota of live mode does not allow all missing sources. A partly copied knowledge base would answer
 * worse than people expect.
 */
export function checkRoom(
  quotas: Quotas,
  { documents, pages }: Record<'documents' | 'pages', { live: number; missing: number }>,
): void {
  if (documents.missing > 0) checkQuota(quotas, 'production', 'documents', documents.live + documents.missing - 1);
  if (pages.missing > 0) checkQuota(quotas, 'production', 'knowledge_pages', pages.live + pages.missing - 1);
}
