/** The note about the team's next opening, which is added when a person is called outside the team's hours. */
import { findOrganization } from '../../models/access/organization.ts';
import { isOpen, nextOpening } from '../../models/rules/access/hours.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';

/** The team's `away_message` and the next opening; empty during the team's hours, and for a team without hours. */
export async function awayNote(orgId: string, language: Language, now: Date): Promise<string> {
  const hours = (await findOrganization(orgId))?.hours;
  if (!hours || isOpen(hours, now)) return '';
  const back = nextOpening(hours, now);
  const when = new Intl.DateTimeFormat(language, {
    timeZone: hours.timezone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  const sentence = back && ownSentences.away[language].replace('{when}', when.format(back));
  return [hours.away_message, sentence]
    .filter(Boolean)
    .map((part) => `\n\n${part}`)
    .join('');
}
