/** Mails to customers: their text, headers and threading. Pure; the fixed sentences are in the agent's languages. */
import type { Mailbox } from '../access/mailbox.ts';
import type { Language } from '../language/language.ts';

/** A mail as stored, so that every sending attempt sends the same mail. Times are ISO 8601. */
export type OutgoingMail = {
  from: Mailbox;
  to: Mailbox;
  reply_to?: Mailbox;
  subject: string;
  text: string;
  date: string;
  /** The mail's `Message-ID`, with angle brackets. */
  message_id: string;
  in_reply_to?: string;
  references: string[];
  headers: Record<string, string>;
  /** A calendar file (RFC 5545), which mail programs offer to add to the calendar. */
  calendar?: { method: 'REQUEST' | 'CANCEL'; content: string };
};

/** Marks mails of this system. An incoming mail that has this header came back in a loop. */
export const loopHeader = 'X-Support-Platform-Loop';

/** The line above which a customer writes the reply; replies are truncated at this line. */
const markers: Readonly<Record<Language, string>> = {
  en: '##- Please write your answer above this line. -##',
  de: '##- Bitte schreiben Sie Ihre Antwort oberhalb dieser Zeile. -##',
  fr: '##- Veuillez écrire votre réponse au-dessus de cette ligne. -##',
  es: '##- Escriba su respuesta por encima de esta línea. -##',
  it: '##- Scriva la Sua risposta sopra questa riga. -##',
  pt: '##- Escreva a sua resposta acima desta linha. -##',
  nl: '##- Schrijf uw antwoord boven deze regel. -##',
  pl: '##- Napisz odpowiedź powyżej tej linii. -##',
};
/** Matches the marker line in a reply, quoted or not. */
export const markerLine = /^[\s>|]*##- .{1,100} -##\s*$/mu;

const texts: Readonly<
  Record<Language, { subject(name: string): string; sources: string; foot(name: string): string }>
> = {
  en: {
    subject: (name) => `Answer from ${name}`,
    sources: 'Sources',
    foot: (name) => `${name}. To go on, answer this mail.`,
  },
  de: {
    subject: (name) => `Antwort von ${name}`,
    sources: 'Quellen',
    foot: (name) => `${name}. Um fortzufahren, antworten Sie auf diese Mail.`,
  },
  fr: {
    subject: (name) => `Réponse de ${name}`,
    sources: 'Sources',
    foot: (name) => `${name}. Pour continuer, répondez à ce courriel.`,
  },
  es: {
    subject: (name) => `Respuesta de ${name}`,
    sources: 'Fuentes',
    foot: (name) => `${name}. Para continuar, responda a este correo.`,
  },
  it: {
    subject: (name) => `Risposta da ${name}`,
    sources: 'Fonti',
    foot: (name) => `${name}. Per continuare, risponda a questa mail.`,
  },
  pt: {
    subject: (name) => `Resposta de ${name}`,
    sources: 'Fontes',
    foot: (name) => `${name}. Para continuar, responda a este e-mail.`,
  },
  nl: {
    subject: (name) => `Antwoord van ${name}`,
    sources: 'Bronnen',
    foot: (name) => `${name}. Beantwoord deze mail om verder te gaan.`,
  },
  pl: {
    subject: (name) => `Odpowiedź od ${name}`,
    sources: 'Źródła',
    foot: (name) => `${name}. Aby kontynuować, odpowiedz na tę wiadomość.`,
  },
};

/** The event type of mails about a reply in a conversation. */
export const mailEventType = 'conversation.replied';

const assistants: Readonly<Record<Language, string>> = {
  en: 'AI assistant',
  de: 'KI-Assistent',
  fr: 'Assistant IA',
  es: 'Asistente de IA',
  it: 'Assistente IA',
  pt: 'Assistente de IA',
  nl: 'AI-assistent',
  pl: 'Asystent AI',
};
/** The agent's name in mails, which says that the sender is not a person. */
export const assistantName = (name: string, language: Language): string => `${name} (${assistants[language]})`;

/** One message in a mail: a person's reply, or the agent's answer with its sources. */
export type Told = { sender: string; body: string; sources: readonly { name: string; url?: string }[] };

/** The text of a mail. `answerable`: whether a reply to the mail reaches the conversation. */
export function mailText(told: readonly Told[], name: string, language: Language, answerable: boolean): string {
  const { sources: heading, foot } = texts[language];
  const parts = told.map(({ sender, body, sources }) => {
    const listed = sources.map((source) => `- ${source.name}${source.url === undefined ? '' : ` ${source.url}`}`);
    return [`${sender}:`, body.trim(), ...(listed.length > 0 ? [`\n${heading}:`, ...listed] : [])].join('\n');
  });
  const said = answerable ? [markers[language], ...parts, `-- \n${foot(name)}`] : [...parts, `-- \n${name}`];
  return `${said.join('\n\n')}\n`;
}

const maxSubject = 200;

/**
 * The subject, on one line. A thread that the customer began keeps the customer's subject (`given`), with one `Re:`.
 */
export function mailSubject(given: string | undefined, name: string, language: Language): string {
  const own = (given ?? '')
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/^(?:\s*(?:re|aw|antw|sv|vs|rv|réf?)(?:\[\d{1,3}\])?\s*:)+/iu, '')
    .trim();
  return own === '' ? texts[language].subject(name) : `Re: ${own}`.slice(0, maxSubject).trim();
}

/** A mailbox in the form of a mail header. */
export const addressText = ({ name, address }: Mailbox): string => (name === '' ? address : `${name} <${address}>`);

/** Matches a message id in a mail header. */
const messageId = /<[^\s<>"(),;\p{Cc}]{1,250}>/gu;
/** The distinct message ids in a header's value, in order. */
export const messageIdsIn = (value: string | undefined): string[] => [
  ...new Set((value ?? '').slice(0, 20_000).match(messageId) ?? []),
];

const newestReferences = 10;
const maxReferencesBytes = 2_000;

/** The `References` of a mail: the first message id of the thread and the newest ids, within 2 kB. */
export function referencesOf(ids: readonly string[]): string[] {
  const [first, ...others] = ids;
  if (first === undefined) return [];
  const kept: string[] = [];
  let bytes = first.length;
  for (const id of others.slice(-newestReferences).toReversed()) {
    bytes += id.length + 1;
    if (bytes > maxReferencesBytes) break;
    kept.unshift(id);
  }
  return [first, ...kept];
}

/**
 * The headers of automatic mail. `answers`: true when the agent answers a mail; false when the mail reports a person's
 * reply.
 */
export const automaticHeaders = (convId: string, answers: boolean): Record<string, string> => ({
  // Tells programs not to answer (RFC 3834); Exchange understands only `X-Auto-Response-Suppress`.
  'Auto-Submitted': answers ? 'auto-replied' : 'auto-generated',
  'X-Auto-Response-Suppress': 'All',
  [loopHeader]: convId,
});

/**
 * The delay before a reply is mailed, in ms. Within this time the customer may come back to the chat and need no mail,
 * and further replies join the same mail.
 */
export const mailAfterMs = 60_000;
/**
 * The maximum number of the agent's mails to one customer in an hour, which stops two programs that answer each other.
 */
const automaticMailsPerHour = 3;
const hourMs = 3_600_000;

/**
 * How long the agent must wait before its next mail to a customer, in ms; 0 when it may send now. `sent`: the times of
 * the agent's earlier mails to the customer.
 */
export function automaticWaitMs(sent: readonly Date[], now: Date): number {
  const recent = sent
    .filter((at) => now.getTime() - at.getTime() < hourMs)
    .toSorted((a, b) => a.getTime() - b.getTime());
  const limiting = recent.at(-automaticMailsPerHour);
  return limiting ? limiting.getTime() + hourMs - now.getTime() : 0;
}
