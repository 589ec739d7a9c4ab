/**
 * Tells in which of the agent's languages a customer writes. Pure and based on words, so it costs a worker no memory.
 * It only chooses the language of the agent's own sentences, and must not decide what is found or whether a person is
 * called.
 */
import { fold, functionWords } from './words.ts';

export const languages = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof languages)[number];
/** More languages than the agent has, so that Italian is not taken for Spanish. */
type Known = keyof typeof functionWords;

/**
 * Words that customers write to a help desk besides function words, folded. Words that also occur in messages of
 * another of these languages are left out, because they do not tell the languages apart.
 */
const telling: Readonly<Record<Known, string>> = {
  en: `account address anyone back bill blocked bought broken cancel cancelled cannot cant card change charged close couldn
  customer days declined delivered delivery didn doesn don dont ever fee fees find forgot free get gone got haven hello help hi hours
  invoice isn know last let like locked login lost money month monthly need never nobody not open opening order password pay
  payment phone received refund representative reset sell send sent shipping someone still stolen thanks today tomorrow twice want week
  where won work working wrong year yesterday`,
  de: `abgebucht abgelehnt adresse anmelden ausland bekomme bekommen bestellen bestellt bestellung bezahlen bezahlt bitte brauche brauchen
  buchung danke dich eigentlich einloggen erhalten euro funktioniert gebuhr gebuhren gehen geht geld gern gesperrt gesendet gestern gibts guten habt hallo
  handy heute hilfe hatte ihre ihren ihnen immer mensch menschen mitarbeiter berater kundenservice sprechen ansprechpartner jetzt karte kaufen kostenlos kosten kostet konnte konto kundigen kundigung
  lange lieferung mehr mochte monat monatlich morgen nie niemand offen offnungszeiten paket passwort preis rechnung rucksendung
  ruckerstattung seit stornieren storniert tag tage uberweisung vergessen verkaufen verloren verstehe vielen vertrag wechseln welche welchen welcher
  welches wieder wieso will woche wurde wurden zahlen zahlung zuruck zweimal`,
  fr: `acheter adresse aide ai annuler annulee argent as aujourd avez besoin bloque bloquee bonjour bonsoir carte ca chez colis conseiller conseillere humain parler quelqu combien commande compte
  compris connecter connexion cout coute depuis deux deja demain encore envoyer envoye essaie etais ete etes etre facture faire
  fait fermer fonctionne frais gratuit gratuite gratuits heure heures hier horaires impossible jamais jours livraison
  mensuel mensuels merci mois monsieur mot numero ouvert ouverts oublie paiement passe payer perdu peut peux plus prix puis quoi
  recevoir recu refuse refusee remboursement remplacer rien sans semaine suis svp telephone toujours trouver va
  virement voudrais veux`,
  es: `abierto abrir agente ahora alguien asesor atencion hablar humano operador podria persona aplicacion ayer ayuda bloqueada bloqueado buenas buenos cambiar cambio cancelar cancelado cerrar cobrado
  comision compra comprar contrasena cuales cuanta cuantos cuenta cuesta dias dinero dos ellos encontrar encuentro entrar envio
  enviar estan estoy factura fue funciona gracias gratis ha hacer han he hola horario horarios hoy iniciar llega llegado manana
  mensual mes mia mis movil mucho muy nadie necesito ninguna ninguno nunca nuestro olvidado olvide pagar pago paquete pedido perdi
  perdido precio puede pueden puedo quiero quisiera recibido rechazada rechazado reembolso sesion semana siempre sigue
  soy tambien tarjeta telefono tengo tiene tienen todavia tipo usted ustedes veces venden`,
  it: `anche arriva carta con conto del dimenticato grazie ha hanno in la lo mia mie nessuno numero o ordine pacco perche perso piu posso potete quali
  questo si stato un una vorrei`,
  pt: `a cartao chega conta e encomenda endereco esqueci esta fatura foi ja mais me minhas numero obrigado onde pagamento para perdi por posso
  que quero recebi se sem senha tem tenho um voces`,
  nl: `adres bestelling betaling bedankt deze door geen geld graag heb hebt heeft hoeveel kaart kosten krijg kunnen mij moet
  nog ons pakket rekening uit uw vergeten verloren waarom welke wil worden wordt zonder`,
};

/** The known languages that have each word: a word that several languages share counts less. */
const speakers = new Map<string, Set<Known>>();
for (const language of Object.keys(functionWords) as Known[]) {
  for (const word of [...functionWords[language], ...telling[language].split(/\s+/u)]) {
    speakers.set(word, (speakers.get(word) ?? new Set<Known>()).add(language));
  }
}

/** Signs and letters that only one known language uses, and letters that few languages use. */
const signs: Partial<Record<Known, RegExp>> = { de: /ß/u, es: /[¡¿ñ]/u };
const letters: Partial<Record<Known, RegExp>> = {
  de: /[äöü]/u,
  fr: /[àâçèêëîïôœùû]/u,
  es: /[áíóú]/u,
  it: /[àèìòù]/u,
  pt: /[áâãçêíóõú]/u,
};
/** A letter counts less than a word that only one language has. */
const letter = 0.75;
/** How much of a text is read, in characters; more does not improve the result. */
const charactersRead = 500;

/** The language of a text; undefined when the text is too short to tell, or is in none of these languages. */
export function languageOf(text: string): Language | undefined {
  const read = text.slice(0, charactersRead).normalize('NFC').toLowerCase();
  const told = new Map<Known, number>();
  const tell = (language: Known, much: number) => told.set(language, (told.get(language) ?? 0) + much);
  for (const word of fold(read).split(/[^\p{L}\p{M}]+/u)) {
    const known = speakers.get(word);
    for (const language of known ?? []) tell(language, 1 / known!.size);
  }
  for (const language of Object.keys(functionWords) as Known[]) {
    if (signs[language]?.test(read) === true) tell(language, 1);
    // Letters alone could belong to a language that is not known here.
    if (told.has(language) && letters[language]?.test(read) === true) tell(language, letter);
  }
  const [first, second] = [...told].toSorted(([, one], [, other]) => other - one);
  if (!first || first[1] === second?.[1]) return undefined;
  return languages.find((language) => language === first[0]);
}

/**
 * The language to answer in: that of the newest text whose language can be told (the texts come newest first); English
 * when there is none.
 */
export function languageOfFirst(texts: readonly string[]): Language {
  for (const text of texts) {
    const language = languageOf(text);
    if (language) return language;
  }
  return 'en';
}
