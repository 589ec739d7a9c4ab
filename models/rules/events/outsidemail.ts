/**
 * Mails to outsiders. An outsider is neither a member nor a customer who wrote first. The owner of an address that a
 * visitor gave in a chat counts as an outsider, too. Each mail says who sends it, through which system, why, and how to
 * unsubscribe. Daily limits keep one account from mailing strangers through the server that all organizations share.
 * Pure.
 */
import { shownName } from '../access/accountmail.ts';
import type { Language } from '../language/language.ts';

/** Why an outsider gets a mail, for the footer of mails in English. The reason of a reply is in `footers`. */
const reasons = {
  invitation: 'somebody there entered your address to invite you',
  task: 'somebody there entered your address as that of whoever is to do a task',
  interview: 'somebody there entered your address as that of a candidate for an interview',
} as const;
export type OutsideReason = keyof typeof reasons | 'reply';

type Sentence = (organization: string, host: string) => string;
/**
 * The footer's sentences: who sends a reply and why (`reply`), and how to unsubscribe from everybody (`stop`) or from
 * the organization alone (`stopOne`).
 */
const footers: Readonly<Record<Language, { reply: Sentence; stop: Sentence; stopOne: Sentence }>> = {
  en: {
    reply: (organization, host) =>
      `${organization} sends you this through ${host}, because somebody gave your address for replies in a chat there.`,
    stop: (organization, host) => `To get no more mails of ${organization}, or of anybody at ${host}, open:`,
    stopOne: (organization) => `To get no more mails of ${organization}, open:`,
  },
  de: {
    reply: (organization, host) =>
      `${organization} sendet Ihnen dies über ${host}, weil jemand dort in einem Chat Ihre Adresse für Antworten angegeben hat.`,
    stop: (organization, host) =>
      `Um keine Mails mehr von ${organization} oder überhaupt über ${host} zu erhalten, öffnen Sie:`,
    stopOne: (organization) => `Um keine Mails mehr von ${organization} zu erhalten, öffnen Sie:`,
  },
  fr: {
    reply: (organization, host) =>
      `${organization} vous envoie ceci par ${host}, car quelqu’un y a donné votre adresse dans un chat pour recevoir des réponses.`,
    stop: (organization, host) =>
      `Pour ne plus recevoir de courriels de ${organization}, ou de quiconque sur ${host}, ouvrez :`,
    stopOne: (organization) => `Pour ne plus recevoir de courriels de ${organization}, ouvrez :`,
  },
  es: {
    reply: (organization, host) =>
      `${organization} le envía esto a través de ${host}, porque alguien dio allí su dirección en un chat para recibir respuestas.`,
    stop: (organization, host) => `Para no recibir más correos de ${organization}, ni de nadie en ${host}, abra:`,
    stopOne: (organization) => `Para no recibir más correos de ${organization}, abra:`,
  },
  it: {
    reply: (organization, host) =>
      `${organization} Le invia questo tramite ${host}, perché qualcuno ha indicato lì il Suo indirizzo in una chat per ricevere risposte.`,
    stop: (organization, host) => `Per non ricevere più mail da ${organization}, o da chiunque su ${host}, apra:`,
    stopOne: (organization) => `Per non ricevere più mail da ${organization}, apra:`,
  },
  pt: {
    reply: (organization, host) =>
      `${organization} envia-lhe isto através de ${host}, porque alguém indicou aí o seu endereço num chat para receber respostas.`,
    stop: (organization, host) => `Para não receber mais e-mails de ${organization}, nem de ninguém em ${host}, abra:`,
    stopOne: (organization) => `Para não receber mais e-mails de ${organization}, abra:`,
  },
  nl: {
    reply: (organization, host) =>
      `${organization} stuurt u dit via ${host}, omdat iemand daar in een chat uw adres voor antwoorden heeft opgegeven.`,
    stop: (organization, host) =>
      `Open het volgende om geen mails meer te krijgen van ${organization}, of van wie dan ook op ${host}:`,
    stopOne: (organization) => `Open het volgende om geen mails meer te krijgen van ${organization}:`,
  },
  pl: {
    reply: (organization, host) =>
      `Tę wiadomość wysyła ${organization} przez ${host}, ponieważ ktoś podał tam na czacie ten adres do odpowiedzi.`,
    stop: (organization, host) =>
      `Aby nie otrzymywać więcej wiadomości od ${organization} ani od nikogo z ${host}, otwórz:`,
    stopOne: (organization) => `Aby nie otrzymywać więcej wiadomości od ${organization}, otwórz:`,
  },
};

/**
 * The daily limit of mails to one address, from all senders together. An addition of the address's owner to an
 * organization counts like a mail, because members are mailed without being asked. Replies to an address that a visitor
 * gave have a counter of their own with the same limit. Operators cannot raise the limit, because it protects people
 * from being flooded with mails.
 */
export const outsideToOnePerDay = 10;
/**
 * The daily limit of mails about tasks from one organization to one of its members. Members are added without being
 * asked, and these mails contain what others wrote. The limit is one for each organization, so that no organization
 * uses up the mails of another.
 */
export const taskMailsToMemberPerDay = 100;
/**
 * The daily limit of mails and additions of members from an account whose own address is not proven: enough to invite a
 * first team.
 */
export const outsideUnprovenPerDay = 5;

/** Whether a person unsubscribes from one organization or from all on this system. */
export const objectionScopes = ['organization', 'all'] as const;
export type ObjectionScope = (typeof objectionScopes)[number];
/**
 * What the unsubscribe link of a mail may stop at most. An organization can read the links that its own server sends.
 * So such a link stops only that organization, and nobody can cut an address off from all others.
 */
export const reachOf = (via: 'deployment' | 'organization'): ObjectionScope =>
  via === 'deployment' ? 'all' : 'organization';

/**
 * Why a mail is not sent, or a member not added: the person unsubscribed, or a limit of the address, account or
 * organization is reached.
 */
export type OutsideRefusal = 'objected' | 'address' | 'account' | 'organization';
export const outsideRefusals: Readonly<Record<OutsideRefusal, string>> = {
  objected: 'Whoever has this address wants no more such mails.',
  address:
    'The mails to this address, with its additions to organizations, have reached their limit for today. Try again tomorrow (UTC).',
  account:
    'The mails of this account to people outside, with the members that it added, have reached their limit for today; an account whose own address is proven has a higher one. Try again tomorrow (UTC).',
  organization:
    'The mails of this organization to people outside, with the members that it added, have reached their limit for today. Try again tomorrow (UTC).',
};

/** Whether the mail or addition is refused because of a daily limit of the sender, and not of the receiving address. */
export const isSendersLimit = (refusal: OutsideRefusal): boolean => refusal === 'account' || refusal === 'organization';

/**
 * Adds the footer of a mail to outsiders, in the mail's language. Only replies may have a language other than English.
 * `link`: the URL of the page to unsubscribe. `reach`: what the link may stop at most.
 */
export function framed(
  text: string,
  about: {
    organization: string;
    host: string;
    why: OutsideReason;
    link: string;
    reach: ObjectionScope;
    language: Language;
  },
): string {
  const organization = `“${shownName(about.organization)}”`;
  const { host, why, link, reach, language } = about;
  const { reply, stop, stopOne } = footers[language];
  const sent =
    why === 'reply'
      ? reply(organization, host)
      : `${organization} sends you this through ${host}, because ${reasons[why]}.`;
  const frame = ['________', sent, (reach === 'all' ? stop : stopOne)(organization, host), link];
  return `${text.trimEnd()}\n\n${frame.join('\n')}\n`;
}

/**
 * Headers for one-click unsubscribe in mail programs (RFC 8058). `address`: the URL of the route that receives the
 * unsubscribe request.
 */
export const objectionHeaders = (address: string): Record<string, string> => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

/** The scope in a form that a mail program or the page to unsubscribe submits; undefined for any other form. */
export function readObjection(text: string): ObjectionScope | undefined {
  const form = new URLSearchParams(text);
  if (form.get('List-Unsubscribe') === 'One-Click') return 'organization';
  return objectionScopes.find((scope) => scope === form.get('scope'));
}
