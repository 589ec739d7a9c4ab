/**
 * Patterns for sentences that tell what a person did, in English, German, French and Spanish: verbs in the past tense,
 * words of habit, details and outcomes. The patterns match nothing in other languages. Pure data.
 */

const any = (words: string): string => words.trim().split(/\s+/u).join('|');
/** A whole-word pattern. `\b` would not work, because it does not treat accented letters as letters. */
const word = (source: string, flags = 'iu'): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source})(?![\p{L}\p{N}])`, flags);

const irregular =
  any(`was were had did went got made took came saw knew found gave told felt left kept began brought thought wrote rewrote
  ran held stood set put cut met paid sent sat spoke spent lost built rebuilt broke chose drew drove ate fell fought flew forgot
  froze grew hid hit hung led lent let lit meant read rode rang rose said sold shook showed shut slept sought split spread struck
  stuck swapped taught threw threw understood won wore withdrew became bought caught dealt dug heard hurt laid learnt overcame
  quit bound bent undid redid`);
/** Regular English past forms. `need` and `proceed` end with `ed` too but are present forms. */
const regular = String.raw`(?!(?:need|feed|speed|exceed|proceed|succeed|indeed|shed)(?![\p{L}]))\p{L}{2,}ed`;
const between = String.raw`(?:\s+(?:also|then|just|even|only|really|simply|finally|first|later|quickly|never|again|both|all|personally|immediately|\p{L}+ly))?`;

const germanParticiple = String.raw`\p{L}*ge\p{L}{2,}(?:t|en)|\p{L}{2,}iert|(?:ver|be|ent|er|zer|über|unter|wider)\p{L}{3,}(?:t|en)`;
const germanPast =
  any(`war waren hatte hatten wurde wurden kam kamen ging gingen sah sahen fand fanden gab gaben nahm nahmen
  rief riefen schrieb schrieben stand standen lag lagen ließ ließen hielt hielten konnte konnten musste mussten wollte wollten
  sollte sollten durfte brachte brachten dachte dachten wusste wussten bekam bekamen begann begannen lief liefen traf trafen
  sprach sprachen blieb blieben machte machten sagte sagten baute bauten führte führten leitete leiteten stellte stellten`);
const frenchParticiple = String.raw`\p{L}+(?:é|ée|és|ées)|fait|dit|écrit|mis|pris|compris|appris|vu|su|pu|dû|eu|été|voulu|tenu|obtenu|reçu|perdu|rendu|répondu|vendu|lu|connu|fini|choisi|réussi|ouvert|offert|construit|réduit|produit|conduit|venu|parti|sorti`;
/** Spanish past forms that cannot be present forms. `trabajamos` may be both, so it is left out. */
const spanishPast = String.raw`(?!(?:qué|así|aquí|allí|ahí|café|sé|té|porqué|mí|sí)(?![\p{L}]))\p{L}{2,}(?:é|í)|(?:nos|les|le|lo|la|los|las)\s+\p{L}+(?:amos|imos)|${any(`hice tuve fui puse dije pude
  quise vine di vi traje supe estuve anduve conduje reduje hicimos tuvimos fuimos pusimos dijimos pudimos vinimos dimos vimos
  trajimos supimos estuvimos redujimos conseguimos`)}`;
const spanishOther = String.raw`\p{L}{2,}(?:ó|ió|aron|ieron|aba|aban)|había|habían|era|eran|fue|fueron|tenía|tenían|hizo|hicieron|tuvo|dijo|pudo|puso|vino`;

/** Each match is one action of the speaker, or of a group that includes the speaker. */
export const acts: readonly RegExp[] = [
  word(
    String.raw`(?:I|we)(?:(?:\s+had|['’]d)(?!\s+(?:like|love|want|prefer|say)))?${between}\s+(?:${irregular}|${regular}|had\s+to|didn['’]t|couldn['’]t)`,
    'giu',
  ),
  // `I held the dose, rang the doctor and asked him`: the second and third verbs have the same subject.
  word(String.raw`(?:,\s*(?:and\s+)?(?:then\s+)?|\band\s+(?:then\s+)?)(?:${irregular}|${regular})`, 'giu'),
  word(
    String.raw`(?:(?:ich|wir)\s+(?:habe|haben|hatte|hatten|bin|sind)|(?:habe|haben|hatte|hatten|bin|sind)\s+(?:ich|wir))[^.!?]{0,120}?\s(?:${germanParticiple})`,
    'giu',
  ),
  word(String.raw`(?:ich|wir)\s+(?:${germanPast})|(?:${germanPast})\s+(?:ich|wir)`, 'giu'),
  word(
    String.raw`(?:j['’](?:ai|avais)|je\s+(?:l['’]ai|les\s+ai|leur\s+ai|lui\s+ai|me\s+suis|suis)|(?:nous|on)\s+(?:avons|a|avions|avait|sommes))(?:\s+(?:aussi|ensuite|alors|donc|tout\s+de\s+suite|fait|dû|pu))?\s+(?:${frenchParticiple})`,
    'giu',
  ),
  word(spanishPast, 'giu'),
];

/** Patterns for past events, whoever acted. */
export const happened: readonly RegExp[] = [
  word(String.raw`${irregular}|${regular}|didn['’]t|couldn['’]t|wasn['’]t|hadn['’]t`, 'iu'),
  word(germanPast),
  word(
    String.raw`(?:a|ont|avait|avaient|était|étaient|est|sont)\s+(?:\p{L}+\s+)?(?:${frenchParticiple})|avait|était|étaient`,
  ),
  word(spanishOther),
];

/** Matches words for a habit, such as `always`. A sentence about a habit tells no event. */
export const habit = word(
  `always|usually|often|generally|normally|typically|sometimes|every\\s+(?:time|situation|day|project|customer)|in\\s+general|in\\s+most\\s+cases|most\\s+of\\s+the\\s+time|a\\s+lot\\s+of|all\\s+the\\s+time|somehow|over\\s+the\\s+years|many\\s+(?:times|situations|projects)
  |immer|meistens|oft|normalerweise|grundsätzlich|in\\s+der\\s+regel|generell|stets|irgendwie|jedes\\s+mal
  |toujours|souvent|en\\s+général|généralement|d['’]habitude|habituellement|il\\s+faut|beaucoup\\s+d['’]expérience
  |siempre|normalmente|en\\s+general|generalmente|a\\s+menudo|suelo|hay\\s+que|casi\\s+nunca|mucha\\s+experiencia`.replaceAll(
    /\s*\n\s*/gu,
    '',
  ),
);

/** Numbers in digits or in words. Each distinct number counts as one detail. */
export const figures: readonly RegExp[] = [
  /\d[\d.,:]*/gu,
  word(
    any(`two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty sixty ninety
    hundred thousand million billion half third quarter fortnight dozen
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend hälfte drittel viertel
    deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente cent mille moitié tiers
    dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cien cientos mil mitad tercio`),
    'giu',
  ),
];

/** Patterns for the names of days, months and holidays. */
export const named: readonly RegExp[] = [
  word(
    any(`monday tuesday wednesday thursday friday saturday sunday january february april june july august september october
    november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août octobre décembre
    lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre noviembre
    diciembre easter christmas ostern weihnachten pâques noël navidad`),
    'giu',
  ),
];
/** Capitalized words that do not begin a sentence, as a sign of proper names. */
export const capitals = /(?<=[\p{Ll}\p{N},;:]\s)(?!I(?:['’]|\s|$))\p{Lu}[\p{L}\p{N}-]+/gu;

/** Words for an outcome: the state after the action, compared with the state before. */
export const outcome = word(
  String.raw`after(?:wards|\s+(?:that|this))|since(?:\s+(?:then|june|the))?|ever\s+since|in\s+the\s+end|at\s+the\s+end|by\s+the\s+(?:end|summer|time)|eventually|as\s+a\s+result|which\s+(?:meant|brought|saved)|so\s+now|turned\s+out|ended\s+up|(?:down|up|back)\s+(?:to|by)|from\s+\S+\s+to\s+\S+|instead\s+of|renewed|signed|stayed|fell|dropped|saved|stopped|haven['’]t|hasn['’]t|no\s+longer|the\s+(?:week|month|year)\s+after|later
  |am\s+ende|danach|seitdem|seither|schließlich|dadurch|statt|daraufhin|sodass|hinterher
  |au\s+final|finalement|depuis|ensuite|à\s+la\s+fin|résultat|grâce\s+à|en\s+tout|du\s+coup
  |al\s+final|desde\s+entonces|después|finalmente|como\s+resultado|gracias\s+a|ya\s+no|volvió`.replaceAll(
    /\s*\n\s*/gu,
    '',
  ),
);
