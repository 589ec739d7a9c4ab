/**
 * What a customer's message is besides a question: a call for a person, or a courtesy. Pure, by words, in four languages;
 * what it does not recognise is a question. Also the agent's own sentences, which say what happens next.
 */

export const languages = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof languages)[number];

/** Whoever answers for the company. */
const person = {
  en: String.raw`(?:a |an |the |your |some |any |one of your |another |live |real |actual |human |customer |support |service |care |sales |bank |call |help ?desk )*(?:human(?: being)?|person|people|agents?|representatives?|reps?|operators?|advis[eo]rs?|assistants?|somebody|someone|staff(?: member)?|employees?|team(?: member)?|colleagues?|managers?|supervisors?|support|customer (?:service|care))`,
  de: String.raw`(?:eine[mnrs]? |de[mnr] |die |ihre[mnr]? |echten? |echter |richtigen? |menschlichen? |realen? )*(?:mensch(?:en)?|person|mitarbeiter(?:in)?n?|berater(?:in)?|kollegen|kolleg(?:in)|jemande?[mn]?|kundenberater(?:in)?|kundendienst|kundenservice|ansprechpartner(?:in)?|sachbearbeiter(?:in)?|agenten|support)`,
  fr: String.raw`(?:à |a |avec |un |une |le |la |l[’' ]|votre |vrai |vraie |véritable )*(?:humain|être humain|personne(?: réelle| humaine)?|conseiller|conseillère|agent|opérateur|opératrice|quelqu[’']un|représentant|service client|employé|collaborateur)`,
  es: String.raw`(?:con |a |al |un |una |el |la |su |algún )*(?:humano|ser humano|persona(?: real| humana)?|agente|asesora?|operadora?|representante|alguien|empleado|atención al cliente|servicio al cliente)`,
} as const satisfies Record<Language, string>;

/** "Real" or "human" alone makes it somebody to talk to. */
const real = {
  en: String.raw`(?:live|real|actual|human) (?:human|person|people|agent|representative|rep|operator|advis[eo]r|assistant|being|support)`,
  de: String.raw`(?:echte[mnrs]?|richtige[mnrs]?|menschliche[mnrs]?) (?:mensch(?:en)?|person|mitarbeiter(?:in)?|berater(?:in)?|ansprechpartner(?:in)?)`,
  fr: String.raw`(?:vrai|vraie|véritable) (?:personne|humain|conseiller|conseillère|agent)|(?:personne|agent|conseiller) (?:réelle?|humaine?)`,
  es: String.raw`(?:persona|agente|asesora?) (?:real|humana?|de verdad)|(?:verdadera?) (?:persona|agente)`,
} as const satisfies Record<Language, string>;

/** What follows "human" or "agent" when it is not one to talk to. */
const notThese = String.raw`(?![ -](?:resources|rights|error|errors|body|trafficking|nature|readable|fees?|commission|account|loan|id|number|login|portal|app|card|policy|hours?|email|e-mail|address|who|that|which))`;

const calls: Record<Language, RegExp[]> = {
  en: [
    new RegExp(
      String.raw`\b(?:talk|speak|chat|connect(?:ed)?|transfer(?:red)?|forward(?:ed)?|escalate(?:d)?|put (?:me )?through|hand(?:ed)? (?:me )?over|switch|pass(?:ed)?|get|reach|contact|redirect(?:ed)?)(?: (?:me|us|this|it))?(?: (?:to|with|through to|on to|over to|hold of|in touch with|directly to|directly with))+ ${person.en}\b${notThese}`,
      'u',
    ),
    new RegExp(
      String.raw`^(?:can|could|may|please|i|give|get|i'd|we)\b[^.?!]{0,40}\b(?:need|want|like|prefer|have|get|give|call|find)(?: me| us| to have)? ${real.en}\b${notThese}`,
      'u',
    ),
    new RegExp(
      String.raw`^(?:(?:i|we) (?:just |really )?(?:need|want|would like|d like|prefer)|(?:can|could|may) i (?:have|get)|give me|get me) (?:a |an |another )(?:human|person|agent|representative|operator|human being)(?: please)?[ .!?]*$`,
      'u',
    ),
    new RegExp(
      String.raw`^(?:please |a |an |the |get |me |to |just )*(?:${real.en}|human|person|agent|representative|operator|support agent|customer service)(?:,? now|,? please|,? pls)*[ .!?]*$`,
      'u',
    ),
    new RegExp(
      String.raw`\b(?:no|not|stop|instead of|rather than|tired of|sick of) (?:a |an |the |this |want |need |talking to |speaking to |with )*(?:bots?|robots?|machine|chat ?bot|ai)\b[^.?!]{0,60}\b(?:human|person|agent|someone|somebody|representative)\b`,
      'u',
    ),
    /\b(?:let|have) (?:a |an )?(?:human|person|someone|somebody|real person|agent) (?:call|contact|answer|help|take over|handle)\b/u,
    /\bescalate (?:this|my (?:case|ticket|issue|problem|complaint))\b/u,
  ],
  de: [
    new RegExp(
      String.raw`\b(?:mit |an |zu )${person.de}(?: aus fleisch und blut| ihres hauses| vom support| am telefon)? ?(?:direkt |jetzt |bitte |persönlich |sofort )*(?:sprechen|reden|verbinden|verbunden|weiterleiten|weitergeleitet|schreiben|chatten|telefonieren|weiterverbinden|durchstellen)\b`,
      'u',
    ),
    new RegExp(
      String.raw`\b(?:verbinden|verbinde|stellen|sprechen|leiten) (?:sie )?(?:mich )?(?:bitte )?(?:mit |an |zu )${person.de}\b`,
      'u',
    ),
    new RegExp(String.raw`\b${person.de} (?:sprechen|reden|kontaktieren)\b`, 'u'),
    new RegExp(
      String.raw`^(?:ich (?:will|möchte|brauche|hätte gerne?) |bitte |einen? |einem )*(?:${real.de}|mitarbeiter(?:in)?|mensch(?:en)?|berater(?:in)?|kundenberater(?:in)?|ansprechpartner(?:in)?)(?: bitte| jetzt)*[ .!?]*$`,
      'u',
    ),
  ],
  fr: [
    new RegExp(
      String.raw`\b(?:parler|discuter|parlez|échanger|communiquer|transférer|transférez|mettre en relation|mettez en relation|contacter|joindre|passez|passer)(?:-moi| moi)? (?:directement )?${person.fr}(?!\p{L})`,
      'u',
    ),
    new RegExp(
      String.raw`^(?:je (?:veux|voudrais|souhaite) |j[’']aimerais (?:avoir )?|s[’']il vous plaît,? )*(?:un |une )?(?:${real.fr}|humain|conseiller|conseillère|agent)(?:,? s[’']il vous plaît|,? svp)*[ .!?]*$`,
      'u',
    ),
  ],
  es: [
    new RegExp(
      String.raw`\b(?:hablar|hable|comunicarme|comunicar|comuníqueme|contactar|chatear|pasarme|páseme|transferirme|transfiérame|conéctame|conécteme) ${person.es}(?!\p{L})`,
      'u',
    ),
    new RegExp(
      String.raw`^(?:quiero |necesito |quisiera |me gustaría |por favor,? )*(?:un |una )?(?:${real.es}|humano|agente|asesor|operador|operadora)(?:,? por favor)*[ .!?]*$`,
      'u',
    ),
  ],
};

/** As it is compared: lower case, plain apostrophes, single blanks. */
const plainWords = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[\s¡¿]+/gu, ' ')
    .trim();

/** The language in which a message calls for a person; undefined when it does not. */
export function asksForPerson(text: string): Language | undefined {
  const plain = plainWords(text.slice(0, 2_000));
  return languages.find((language) => calls[language].some((pattern) => pattern.test(plain)));
}

const end = String.raw`[ ,.!?)\p{Extended_Pictographic}\u{fe0f}]*$`;
const courtesies = {
  greeting: {
    en: `^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings)(?: there| again| everyone| team| all)*${end}`,
    de: `^(?:hallo|guten (?:tag|morgen|abend)|moin(?: moin)?|servus|grüß gott|grüezi)(?: zusammen| nochmals?)*${end}`,
    fr: `^(?:bonjour|bonsoir|salut|coucou)(?: à tous| madame| monsieur)*${end}`,
    es: `^(?:hola|buenos días|buenas(?: tardes| noches)?|saludos)(?: de nuevo| a todos)*${end}`,
  },
  thanks: {
    en: `^(?:ok(?:ay)?|great|perfect|super|cool|got it|alright|nice|awesome|wonderful|[ ,.!])*(?:thanks?(?: you)?|thx|cheers|many thanks|much appreciated)(?: so much| very much| a lot| again| for (?:your|the) help| that helps| that helped|[ ,.!])*${end}`,
    de: `^(?:ok(?:ay)?|super|prima|perfekt|alles klar|toll|[ ,.!])*(?:danke(?:schön)?|vielen dank|besten dank|herzlichen dank)(?: schön| sehr| für (?:die|ihre) hilfe|[ ,.!])*${end}`,
    fr: `^(?:ok|parfait|super|d'accord|[ ,.!])*merci(?: beaucoup| bien| à vous| pour votre aide|[ ,.!])*${end}`,
    es: `^(?:ok|vale|perfecto|genial|[ ,.!])*(?:muchas |mil )?gracias(?: por (?:su|tu|la) ayuda|[ ,.!])*${end}`,
  },
  farewell: {
    en: `^(?:bye(?:[- ]bye)?|goodbye|see you|have a (?:nice|good|great) (?:day|evening|weekend))${end}`,
    de: `^(?:tschüss|tschüß|auf wiedersehen|schönen (?:tag|abend)(?: noch)?|ciao)${end}`,
    fr: `^(?:au revoir|bonne journée|bonne soirée|à bientôt)${end}`,
    es: `^(?:adiós|hasta luego|hasta pronto|que tenga un buen día)${end}`,
  },
} as const satisfies Record<string, Record<Language, string>>;
export type Courtesy = keyof typeof courtesies;

const patterns = (Object.keys(courtesies) as Courtesy[]).flatMap((kind) =>
  languages.map((language) => ({ kind, language, pattern: new RegExp(courtesies[kind][language], 'u') })),
);

/** A message that is nothing but a greeting, thanks or a farewell, of which no document needs to be asked. */
export function courtesyIn(text: string): { kind: Courtesy; language: Language } | undefined {
  if (text.length > 80) return undefined;
  const plain = plainWords(text);
  const found = patterns.find(({ pattern }) => pattern.test(plain));
  return found && { kind: found.kind, language: found.language };
}

/** What the agent says of itself, when no document is asked. */
export const ownSentences = {
  called: {
    en: 'I have called a person from the team. They will reply here.',
    de: 'Ich habe eine Person aus dem Team gerufen. Sie antwortet Ihnen hier.',
    fr: "J'ai appelé une personne de l'équipe. Elle vous répondra ici.",
    es: 'He avisado a una persona del equipo. Le responderá aquí.',
  },
  greeting: {
    en: 'Hello! What would you like to know?',
    de: 'Guten Tag! Was möchten Sie wissen?',
    fr: 'Bonjour ! Que souhaitez-vous savoir ?',
    es: '¡Hola! ¿Qué desea saber?',
  },
  thanks: {
    en: 'You are welcome. Is there anything else you would like to know?',
    de: 'Gern geschehen. Möchten Sie noch etwas wissen?',
    fr: 'Avec plaisir. Souhaitez-vous savoir autre chose ?',
    es: 'De nada. ¿Desea saber algo más?',
  },
  farewell: {
    en: 'Goodbye, and write again whenever you need to.',
    de: 'Auf Wiedersehen, und schreiben Sie jederzeit wieder.',
    fr: 'Au revoir, et écrivez-nous quand vous voulez.',
    es: 'Hasta luego, y escriba de nuevo cuando lo necesite.',
  },
} as const satisfies Record<Courtesy | 'called', Record<Language, string>>;

/** What is said when nothing was found, and what happens next. */
export const notFound = {
  first:
    'I could not find an answer to this in the documents I have. You can ask it in other words, or ask for a person, and I will call one.',
  last: 'I could not find an answer to this either, so I have called a person from the team. They will reply here.',
} as const;

/** The documents could not be asked, however often it was tried. */
export const outOfOrder =
  'I cannot look this up at the moment, so I have called a person from the team. They will reply here.';

/** A test organization has used up its answers of this minute. */
export const overTestLimit =
  'This is a test conversation, and its organization has used up the answers that test mode allows in a minute. Please ask again in a minute.';
