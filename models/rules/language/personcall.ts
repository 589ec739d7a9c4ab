/**
 * Whether a message calls for a person, in four languages. Pure and based on words. After a call the agent stays silent
 * for the rest of the conversation, so only messages with the structure of a call count: somebody asks (`I want to`,
 * `can I`, `please`, or nobody is named), an act of talking or being put through, the person, and then the end, a
 * courtesy or a reason. A message that refuses a person, asks whether one is needed, or passes something on to somebody
 * else does not have that structure; it is a question.
 */
import { languages, type Language } from './language.ts';
import { fold } from './words.ts';

/** At most `most` of these words in a row. Patterns are folded: lower case, without accents. */
const upTo = (most: number, words: string): string => `(?:(?:${words}) ){0,${most}}`;
const end = String.raw`[^\p{L}\p{N}]*$`;
/** Followed by nothing except one of these words, or a new clause. */
const before = (words: string): string => String.raw`(?=${end}| ?[,;:)]| [-–—]| (?:${words})(?![\p{L}\p{N}'-]))`;
const any = (...patterns: string[]): RegExp => new RegExp(`^(?:${patterns.join('|')})`, 'u');

type Grammar = {
  /** What separates clauses, besides punctuation. */
  joint: string;
  /** A clause without content of its own, so that the next clause opens the sentence. */
  aside: RegExp;
  /** Patterns that are a call in any clause. */
  call: RegExp;
  /**
   * Patterns that are a call only at the start of the sentence; further on, the same words may belong to something
   * else.
   */
  opening: RegExp;
};

function english(): Grammar {
  const fill = upTo(
    2,
    `please|just|really|only|now|still|actually|urgently|simply|also|maybe|perhaps|kindly|at least|finally`,
  );
  const kind = `(?:(?:an?|the|your|some|any|one of your|another) )?${upTo(3, `live|real|actual|human|customer|support|service|care|sales|bank|call cent(?:er|re)|help ?desk|proper|genuine|different|senior|technical|living`)}`;
  const somebody = `${kind}(?:human(?: being)?s?|person|people|agents?|representatives?|reps?|operators?|advis[eo]rs?|assistants?|employees?|colleagues?|managers?|supervisors?|staff(?: members?)?|team members?|member of (?:the |your )?(?:staff|team)|specialist|technician)`;
  const someone = `(?:some|any)(?:one|body)(?: real| human| else| (?:from|in|of|at) (?:the |your |customer )?(?:support|service|team|staff|bank|company|charge)(?: team)?)?`;
  const company = `${kind}(?:customer (?:service|support|care)|support(?: team| staff)?|help ?desk|team|service team)`;
  const whoever = `(?:${somebody}|${someone}|${company})`;
  const want = `(?:i|we) ${fill}(?:want|need|wanna|wish|demand|prefer|hope|ask|insist)|(?:i|we)(?:'?d| would) ${fill}(?:like|love|prefer|rather)`;
  const asking = `(?:(?:${want})(?: to)?|(?![^]*\\?)(?:i|we) ${fill}(?:have to|must)|(?:i am|i'm|we are) ${fill}(?:trying|looking|hoping|asking) to|(?:can|could|may|might) (?:i|we)|(?:can|could|will|would) you|(?:is|would) (?:it|it be) possible to|is there (?:a|any) (?:way|chance) (?:for me )?(?:to|i can)|how (?:can|do|could) (?:i|we)|how to|why (?:can't|cannot|cant) i|let me|please|i'd be glad to) ${fill}(?:(?:get|ask|let me|get to|please) )?`;
  const reason = before(
    `please|pls|plz|now|right|asap|immediately|today|again|instead|directly|urgently|quickly|here|too|about|regarding|concerning|because|since|as|so|to|for|who (?:can|could|knows|speaks|understands|will)|that can|on|in|by|over|via|at|if|and|but|or|not|rather|first|soon|thanks|thank|at once|before`,
  );
  const only = before(
    `please|pls|plz|now|right now|asap|immediately|today|here|instead|thanks|thank you|at once|not|rather|and not|because|who (?:can|could|knows|speaks|understands|will)|(?:that i can|i can|to|who can) (?:talk|speak|chat|help|assist|call|answer|contact|explain|handle|take|reply|respond|look)|on the (?:phone|line)|about (?:this|it|that)`,
  );
  const talking = `(?:talk|speak|chat|communicate|connect|deal|have (?:a )?(?:chat|word|talk|conversation)|escalate|switch|get through|get|(?:be |get )?(?:connected|transferred|put through|forwarded|passed on|handed over)|be in touch|get in touch|get hold|get a hold)(?: (?:directly|live|straight|now))? (?:to|with|of)`;
  const putThrough = `(?:connect|transfer|forward|put|hand|pass|switch|redirect|send|route|refer|escalate|get|bring) (?:me|us) ${upTo(3, `on|over|through|directly|straight|back|in touch|in contact|now|please`)}(?:to|with) ${whoever}${reason}`;
  const serve = `(?:call|contact|answer|help|assist|take over|handle|reply|respond|phone|ring)`;
  const serving = `${serve}${before(`me|us|back|now|please|here|this|my|with|asap|instead|about|to (?:me|us)`)}`;
  return {
    joint: `and|but|so|then|or(?= (?:can|could|may) (?:i|you))`,
    aside: new RegExp(
      String.raw`^(?:${upTo(3, `hi|hello|hey|there|yes|yeah|no|nope|ok|okay|stop|sorry|thanks|thank you|please|well|look|listen|excuse me|i mean|oh|wait|good (?:morning|afternoon|evening|day)|sir|madam`)}|(?:no|not|stop|enough|i (?:do not|don't|dont|hate)|i'?m|i am) [^,]{0,40}\b(?:bots?|robots?|machines?|chat ?bots?|ai|computers?) )$`,
      'u',
    ),
    call: any(
      `${asking}${talking} ${whoever}${reason}`,
      `(?:${asking})?${putThrough}`,
      `${asking}(?:have|get|reach|contact|find) (?:${somebody}|${someone})${only}`,
      `(?:${want}) ${fill}(?:to have )?(?:${somebody}|${someone}|(?:live|real|human) support)${only}`,
      `(?:please )?(?:give|get|find|bring|send|call) me (?:${somebody}|${someone})${only}`,
      `(?:${asking})?escalate (?:this|it|(?:this|my|the) (?:case|ticket|issue|problem|complaint|matter|chat|conversation|request))(?: to ${whoever})?${reason}`,
      `(?:please |(?:can|could|will|would) you ${fill}|(?:${want})(?: to)? )?(?:let|have|get|ask|tell) (?:${somebody}|${someone}) (?:to )?${serving}`,
      `(?:can|could|will|would|may) (?:(?:${somebody}) ${fill}${serving}|${someone} ${fill}(?:call|phone|ring|contact) me(?![\\p{L}'-]))`,
      `(?:is|are) there (?:${somebody}|${someone})(?: here| there| available| online)? (?:that |who |whom )?(?:i|we) (?:can|could) (?:talk|speak|chat)`,
      `(?:an? )?(?:${kind})(?:human|person|agent|representative|operator),? (?:please|now|pls)${end}`,
    ),
    opening: any(
      `(?:to |(?![^]*\\?)(?:need|want|wanna) (?:to )?)?${talking} ${whoever}${reason}`,
      `(?![^]*\\?)(?:need|want) (?:${somebody}|${someone})${only}`,
      `${upTo(3, `please|just|get me|give me|to`)}(?:an? |the |some )?(?:human(?: being)?|person|agent|representative|operator|supervisor|customer (?:service|support|care)|(?:live|real|actual|human|support|service) (?:human|person|people|agent|representative|rep|operator|advis[eo]r|assistant|being|support))${before(`please|pls|plz|now|right now|asap|immediately|here|instead|thanks|thank you|not an?|needed|required`)}(?!,? (?:${serve}|who|what|which|where))`,
    ),
  };
}

function german(): Grammar {
  const fill = upTo(
    4,
    `bitte|gerne?|lieber|jetzt|direkt|mal|auch|doch|einfach|nur|endlich|sofort|dringend|kurz|vielleicht|hier|personlich|live|mich|wirklich|unbedingt|noch|einmal|telefonisch|heute|irgendwie|bald`,
  );
  const kind = `(?:(?:einem|einer|einen|eine|ein|dem|der|den|ihrem|ihrer|ihren|eurem|irgendeinem|irgendeiner|irgendeinen|nem|nen) )?${upTo(2, `echte[mnr]?|richtige[mnr]?|menschliche[mnr]?|reale[mnr]?|lebende[mnr]?|andere[mnr]?|zustandige[mnr]?`)}`;
  const somebody = `(?:${kind}(?:mensch(?:en)?|person|(?:service|support|kundendienst|bank)?-?mitarbeiter(?:in|innen|n)?|(?:kunden|bank)?berater(?:in)?|kolleg(?:en|in)|kundenbetreuer(?:in)?|ansprechpartner(?:in)?|ansprechperson|sachbearbeiter(?:in)?|agenten?|vorgesetzten|chef|teammitglied)|(?:irgend)?jemande?[mn]?(?: (?:andere[mn]|echte[mn]|richtige[mn]))?)`;
  const whoever = `(?:${somebody}|${kind}(?:kundendienst|kundenservice|kundenbetreuung|support(?:-?team)?|team))`;
  const asking = `(?:(?:ich|wir) (?:will|wollen|mochten?|wurden?|hatten?|wunsche)|(?![^]*\\?)ich muss|(?:kann|konnte|darf|durfte|konnen|konnten) (?:ich|wir|man)|wie (?:kann|konnte) (?:ich|man)|(?:ist|ware) es moglich,?|(?:gibt es|besteht) (?:eine|die) moglichkeit,?|lassen sie mich|lass mich|bitte) ${fill}`;
  const about = `(?: (?:uber|wegen|zu|zum|zur|bezuglich|aus|vom|von|im|in|am|per|direkt|jetzt|bitte|personlich|sofort|ihres|hier|live|heute|mal|telefonisch|dazu|daruber|deswegen)(?: [^,;:]{0,80}?)?)?`;
  const reason = before(
    `weil|um|und|wegen|uber|bitte|danke|da|denn|jetzt|sofort|statt|anstatt|nicht|damit|oder|wenn|zu`,
  );
  const only = before(
    `bitte|jetzt|sofort|danke|hier|statt|anstatt|nicht|und keine?n?|weil|am telefon|zum (?:reden|sprechen|chatten)|der mir (?:hilft|helfen kann)|die mir (?:hilft|helfen kann)`,
  );
  const talking = `(?:(?:mit|zu|an) ${whoever}${about} (?:zu )?(?:sprechen|reden|chatten|telefonieren|schreiben|verbunden|verbinden|weitergeleitet|weiterleiten|weiterverbinden|durchgestellt|durchstellen|unterhalten|kommunizieren)|${somebody}${about} (?:zu )?(?:sprechen|erreichen|kontaktieren))(?: (?:zu )?(?:werden|lassen|konnen|durfen))?${reason}`;
  return {
    joint: `und|aber|also|sondern|dann|oder(?= (?:kann|konnte|konnen) )`,
    aside: new RegExp(
      String.raw`^(?:${upTo(3, `hallo|guten (?:tag|morgen|abend)|ja|nein|ok|okay|stopp?|halt|danke|bitte|entschuldigung|moment|moin`)}|(?:kein|keinen|nicht|ich (?:will|mochte)) [^,]{0,40}\b(?:bot|roboter|chat ?bot|maschine|ki|computer) )$`,
      'u',
    ),
    call: any(
      `${asking}${talking}`,
      `(?:konnen|konnten|wurden|wollen|kannst|konntest) (?:sie|du|ihr) mich ${fill}(?:mit|zu|an) ${whoever}${about} (?:verbinden|weiterleiten|weiterverbinden|durchstellen)${reason}`,
      `(?:bitte )?(?:verbinden|verbinde|verbindet|stellen|stell|leiten|leite|geben|schalten) (?:sie |du )?mich ${fill}(?:mit|zu|an|weiter an|durch zu) ${whoever}(?: weiter| durch)?${reason}`,
      `(?:bitte )?sprechen ${fill}(?:mit) ${whoever}${only}`,
      `(?:(?:ich|wir) (?:will|wollen|mochten?|brauchen?|benotige|wunsche|verlange|hatten?)|geben sie mir|gib mir|kann ich|konnte ich|holen sie(?: mir)?|rufen sie) ${fill}${somebody}(?: haben| bekommen)?${only}`,
      `(?:kann|konnte) mich ${fill}${somebody} ${fill}(?:anrufen|zuruckrufen|kontaktieren)`,
      `wie (?:erreiche|bekomme|spreche) ich ${fill}(?:mit )?${somebody}${only}`,
      `gibt es (?:hier )?${somebody}(?: hier)?, (?:mit (?:dem|der)|den|die) ich (?:sprechen|reden|chatten|erreichen)`,
      `(?:${kind})(?:mitarbeiter(?:in)?|mensch(?:en)?|berater(?:in)?|ansprechpartner(?:in)?),? bitte${end}`,
    ),
    opening: any(
      talking,
      `${upTo(2, `bitte|einen?|einem|mit`)}(?:(?:echte[mnrs]?|richtige[mnrs]?|menschliche[mnrs]?) (?:mensch(?:en)?|person|mitarbeiter(?:in)?|berater(?:in)?|ansprechpartner(?:in)?)|(?:kunden)?berater(?:in)?|mitarbeiter(?:in)?|mensch(?:en)?|ansprechpartner(?:in)?|kundenservice)${before(`bitte|jetzt|sofort|statt|kein bot`)}`,
    ),
  };
}

function french(): Grammar {
  const please = `s'il (?:vous|te) plait|svp|stp`;
  const fill = upTo(
    2,
    `directement|vraiment|juste|maintenant|tout de suite|bien|plutot|simplement|seulement|vite|aussi|enfin|absolument|${please}`,
  );
  const somebody = `(?:(?:(?:une?|les?|la|votre|vos|des|mon) |l'|d'une? )?${upTo(2, `vraie?|veritable|autre|de vos|seule`)}(?:etre humain|humains?|personne|conseill(?:er|ere)s?|agents?|operat(?:eur|rice)|representante?|employee?|collaborat(?:eur|rice)|responsable|technicien(?:ne)?|interlocut(?:eur|rice)|charge de clientele|membre (?:de (?:l'|votre )equipe|du personnel))|quelqu'un)(?: (?:reel(?:le)?|humaine?|vivante?|physique|d'autre|en chair et en os|de (?:votre |l')?(?:equipe|support)|du (?:support|service client)|qui (?:peut|pourrait|sait|comprend|parle)))?`;
  const whoever = `(?:${somebody}|(?:le |la |l'|votre )?(?:service clients?|support(?: client)?|assistance|equipe|service apres-vente))`;
  const want = `(?:je |j'|nous |on )(?:veux|voudrais|souhaite|souhaiterais|aimerais|desire|prefere|prefererais|demande|exige|voulons|souhaitons|aimerions|voudrait|aimerait)|j'ai (?:${fill})(?:besoin|envie) (?=d)`;
  const asking = `(?:(?:${want}|(?![^]*\\?)je dois|puis-je|pourrais-je|est-ce que je (?:peux|pourrais)|est-ce qu'on peut|je (?:peux|pourrais)|peut-on|pourrait-on|on peut|(?:est|serait)-il possible|c'est possible|y a-t-il (?:un )?moyen|comment(?: (?:puis-je|pourrais-je|je peux|est-ce que je peux|faire pour|on peut))?|laissez-moi|laisse-moi|permettez-moi|merci|svp|s'il vous plait,?) ?)${fill}(?:(?:a|de) )?${fill}`;
  const reason = before(
    `${please}|merci|maintenant|tout|pour|car|parce|puisque|afin|concernant|a|au|de|du|d'|sur|et|ou|en|par|qui|si|mais|pas|plutot|directement|ici|aujourd'hui|rapidement|avant|au sujet|immediatement`,
  );
  const only = before(
    `${please}|merci|maintenant|tout de suite|ici|pas|et pas|plutot|au telephone|pour (?:m'aider|me repondre|parler|discuter|ca|cela)|qui|a qui parler|immediatement|parce|car`,
  );
  const talking = `(?:parler|discuter|echanger|communiquer|dialoguer|chatter|tchatter|m'entretenir|entrer en contact|etre (?:mise? en (?:relation|contact)|transferee?|redirigee?)) ${fill}(?:a|avec|au|aux|vers) ${whoever}${reason}`;
  const toWhom = `(?: ${please})? ?(?:(?:a|avec|vers|au) )?${whoever}${reason}`;
  return {
    joint: `et|mais|donc|alors|ou(?= (?:puis|est|je|pouvez))`,
    aside: new RegExp(
      String.raw`^(?:${upTo(3, `bonjour|bonsoir|salut|oui|non|ok|merci|stop|desolee?|pardon|excusez-moi|attendez|madame|monsieur|${please}`)}|(?:pas|non|je ne veux pas) [^,]{0,40}\b(?:bots?|robots?|chatbots?|machine|ia) )$`,
      'u',
    ),
    call: any(
      `${asking}${talking}`,
      `(?:(?:pouvez|pourriez|peux|pourrais)-?(?: ?)(?:vous|tu) |vous pouvez |veuillez |merci de |est-ce que vous pouvez |${want} ?(?:que vous )?)${fill}me (?:passer|passiez|transferer|rediriger|connecter|orienter|diriger|mettre en (?:relation|contact))${toWhom}`,
      `(?:passez|transferez|redirigez|connectez|dirigez|orientez|passe|transfere|mettez|mets)[- ]moi(?: en (?:relation|contact))?${toWhom}`,
      `${asking}(?:contacter|joindre|avoir|obtenir) ${somebody}${only}`,
      `(?:${want}) ?${fill}(?:avoir )?(?:d')?${somebody}${only}`,
      `(?:donnez|trouvez|appelez|passez)-moi ${somebody}${only}`,
      `(?:est-ce que )?quelqu'un (?:peut|pourrait)(?:-il)? (?:me rappeler|m'appeler|me contacter)`,
      `(?:y a-t-il|est-ce qu'il y a|il y a) ${somebody} (?:a|avec) qui (?:je (?:peux|puisse|pourrais) )?parler`,
      `(?:une? )?(?:humain|conseill(?:er|ere)|agent|vraie personne),? (?:${please})${end}`,
    ),
    opening: any(
      talking,
      `(?:contacter|joindre) ${somebody}${only}`,
      `(?:${please},? )?(?:une? )?(?:(?:vraie?|veritable) (?:personne|humain|conseill(?:er|ere)|agent)|(?:personne|agent|conseiller) (?:reel(?:le)?|humaine?)|humain|conseill(?:er|ere)|agent)${before(`${please}|maintenant|tout de suite|pas un (?:robot|bot)`)}`,
    ),
  };
}

function spanish(): Grammar {
  const fill = upTo(
    2,
    `por favor|ya|ahora|mismo|directamente|mejor|solo|tambien|simplemente|urgentemente|de verdad|realmente`,
  );
  const somebody = `(?:(?:una?|el|la|los|su|tu|alguna?|otr[oa]|algun) )?${upTo(2, `verdader[oa]|autentic[oa]|otr[oa]`)}(?:(?:ser )?humano|humana|personas?|agentes?|asesora?|operadora?|representante|alguien|empleado|empleada|ejecutiv[oa]|supervisora?|encargad[oa]|responsable|gerente|companer[oa]|tecnico|miembro (?:del|de su) equipo)(?: (?:real|humana?|mas|de verdad|de carne y hueso|de (?:su|tu) equipo|del equipo|de soporte|en directo|en vivo|de atencion al cliente))?`;
  const whoever = `(?:${somebody}|(?:el |la |su )?(?:atencion al cliente|servicio (?:al|de atencion al|de) cliente|soporte(?: tecnico)?|equipo(?: de soporte)?))`;
  const want = `(?:yo )?(?:quiero|quisiera|querria|deseo|prefiero|preferiria|me gustaria|exijo|pido|solicito|queremos|quisieramos)|(?![^]*\\?)(?:necesito|necesitamos)`;
  const asking = `(?:${want}|(?![^]*\\?)(?:tengo que|debo)|(?:como )?(?:puedo|podria|podemos|podriamos|se puede)|(?:es|seria) posible|hay (?:alguna )?(?:forma|manera) de|dejeme|dejame|permitame|por favor,?) ${fill}`;
  const reason = before(
    `por|ya|ahora|para|porque|sobre|acerca|que|de|del|y|o|en|si|pero|no|gracias|hoy|aqui|directamente|cuanto|inmediatamente|urgente|a|respecto|antes`,
  );
  const only = before(
    `por favor|ya|ahora|ahora mismo|gracias|aqui|no|y no|que (?:me|pueda|sepa)|para (?:hablar|que me|ayudarme)|en vez|en lugar|porque|cuanto antes|inmediatamente|por telefono`,
  );
  const talking = `(?:hablar|comunicarme|chatear|conversar|charlar|contactar|contactarme|ponerme en contacto|platicar|que me (?:pasen|comuniquen|atienda|pongan|transfieran)) ${fill}(?:(?:con|a|al) )?${whoever}${reason}`;
  const put = `comunicar|pasar|poner|transferir|conectar|derivar`;
  const toWhom = ` ${fill}(?:con|a|al) ${whoever}${reason}`;
  return {
    joint: `y|pero|entonces|asi que|sino|o(?= (?:puedo|podria|me))`,
    aside: new RegExp(
      String.raw`^(?:${upTo(3, `hola|buenas?|buenos|dias|tardes|noches|si|no|ok|vale|gracias|perdon|disculpe|basta|por favor|oiga|espere`)}|(?:no|nada de|basta de) [^,]{0,40}\b(?:bots?|robots?|chatbots?|maquinas?|ia) )$`,
      'u',
    ),
    call: any(
      `${asking}${talking}`,
      `(?:por favor )?me (?:puedes?|pueden|podrias?|podrian) ${fill}(?:${put})${toWhom}`,
      `(?:${asking}|(?:puedes?|pueden|podrias?|podrian) ${fill})(?:${put})me${toWhom}`,
      `(?:por favor )?(?:comunique|comunica|pase|pasa|ponga|pon|transfiera|transfiere|conecte|conecta|derive|deriva)me${toWhom}`,
      `(?:(?:${want}) ${fill}|deme |dame |necesito (?![^]*\\?))(?:a )?${somebody}${only}`,
      `(?:me (?:puede|podria) (?:llamar|contactar) alguien|(?:puede|podria) alguien (?:llamarme|contactarme)|alguien (?:puede|podria) (?:llamarme|contactarme))`,
      `hay ${somebody} con quien (?:pueda|puedo|podria) (?:hablar|chatear|conversar)`,
      `(?:una? )?(?:humano|agente|asesora?|operadora?|persona(?: real)?),? por favor${end}`,
    ),
    opening: any(
      talking,
      `(?:por favor,? )?(?:una? )?(?:(?:persona|agente|asesora?) (?:real|humana?|de verdad)|verdader[oa] (?:persona|agente)|humano|agente|asesora?|operadora?)${before(`por favor|ya|ahora|no un (?:bot|robot)`)}`,
    ),
  };
}

const grammars: Record<Language, Grammar> = { en: english(), de: german(), fr: french(), es: spanish() };
const parting = Object.fromEntries(
  languages.map((language) => [language, new RegExp(` ?[,;:(]+ ?| [-–—]+ | (?:${grammars[language].joint}) `, 'gu')]),
) as Record<Language, RegExp>;

/** How much is read, in characters: a call for a person comes before that. */
const longestRead = 2_000;

/** The language in which a message calls for a person; undefined when it does not. */
export function asksForPerson(text: string): Language | undefined {
  const plain = fold(text.slice(0, longestRead).normalize('NFC'))
    .replaceAll(/[¡¿"«»“”*_]/gu, ' ')
    .replaceAll(/[^\S\n]+/gu, ' ');
  const sentences = (plain.match(/[^.!?\n]+[.!?]*/gu) ?? []).map((sentence) => sentence.trim());
  return languages.find((language) => sentences.some((sentence) => callsIn(language, sentence)));
}

function callsIn(language: Language, sentence: string): boolean {
  const { call, opening, aside } = grammars[language];
  let from = 0;
  let opens = true;
  for (const joint of [...sentence.matchAll(parting[language]), undefined]) {
    const rest = sentence.slice(from);
    if (call.test(rest) || (opens && opening.test(rest))) return true;
    if (!joint) return false;
    opens &&= aside.test(`${sentence.slice(from, joint.index)} `);
    from = joint.index + joint[0].length;
  }
  return false;
}
