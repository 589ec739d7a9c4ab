import { describe, expect, it } from '@jest/globals';
import { ownSentences } from '../../../models/rules/language/escalation.ts';
import { languageOf, languageOfFirst, languages, type Language } from '../../../models/rules/language/language.ts';

const written: Record<Language, readonly string[]> = {
  en: [
    'Do you sell umbrellas?',
    'card declined abroad',
    'How do I change my address',
    'what are your opening hours',
    'My app crashes on login',
    'refund not received',
    'I cant log in',
    'Which ATMs are free of charge?',
    'the screen stays black',
    'Did my card die?',
  ],
  de: [
    'Verkaufen Sie Regenschirme?',
    'Karte im Ausland abgelehnt',
    'wann habt ihr offen',
    'Gibt es Parkplätze für Zeppeline?',
    'RÜCKERSTATTUNG NICHT ERHALTEN',
    'Passwort vergessen',
    'Konto kündigen',
    'Was ist das?',
    'Bekommt mein Sohn eine Karte?',
    'Mein Account wurde gehackt',
  ],
  fr: [
    'Vendez-vous des parapluies ?',
    'carte refusée à l’étranger',
    "Mon appli plante à l'ouverture",
    'remboursement pas reçu',
    'Où trouver mon numéro de compte ?',
    'frais mensuels compte étudiant',
    "J'ai été débité deux fois",
    'mot de passe oublié',
    'Les chiens sont-ils admis ?',
    'la carte ne marche pas',
  ],
  es: [
    '¿Venden paraguas?',
    'tarjeta rechazada en el extranjero',
    'Como cambio mi direccion',
    '¿Hay aparcamiento para zepelines?',
    'no puedo iniciar sesión',
    'comisión mensual cuenta estudiante',
    'Me han cobrado dos veces',
    'cerrar cuenta',
    'la pantalla sigue negra',
    'Contraseña',
  ],
  it: [
    'Vendete ombrelli?',
    'Dove trovo il numero del conto?',
    'La colazione è inclusa?',
    'Come cambio il mio indirizzo?',
    'Il pacco non è arrivato',
    'Quanto costa la spedizione?',
    'ho dimenticato la password',
    'Vorrei parlare con una persona',
    'Posso restituire le scarpe?',
    'Grazie mille!',
  ],
  pt: [
    'Onde encontro o número da conta?',
    'O pequeno-almoço está incluído?',
    'Como mudo a minha morada?',
    'A encomenda não chegou',
    'Quanto custa o envio?',
    'esqueci a minha senha',
    'Quero falar com uma pessoa',
    'Posso devolver os sapatos?',
    'Muito obrigado!',
    'Vocês vendem guarda-chuvas?',
  ],
  nl: [
    'Verkoopt u paraplu’s?',
    'Waarom is mijn bestelling geannuleerd?',
    'Hoe wijzig ik mijn adres?',
    'Het pakket is niet aangekomen',
    'Wat kost de verzending?',
    'wachtwoord vergeten',
    'Ik wil een medewerker spreken',
    'Kan ik de schoenen terugsturen?',
    'Hartelijk dank!',
    'Zijn jullie op zondag open?',
  ],
  pl: [
    'Czy sprzedajecie parasole?',
    'Gdzie znajdę numer konta?',
    'Czy śniadanie jest wliczone?',
    'Jak zmienić adres?',
    'Paczka nie dotarła',
    'Ile kosztuje wysyłka?',
    'zapomniałem hasła',
    'Chcę rozmawiać z człowiekiem',
    'Czy mogę zwrócić buty?',
    'Dziękuję bardzo!',
  ],
};

describe('languageOf', () => {
  it.each(languages.flatMap((language) => written[language].map((text) => [language, text] as const)))(
    'the language of a message in %s is recognized: %s',
    (language, text) => {
      expect(languageOf(text)).toBe(language);
      // Decomposed letters (NFD) are recognized like composed ones.
      expect(languageOf(text.normalize('NFD'))).toBe(language);
    },
  );

  it.each([
    '',
    '???',
    '👍',
    'IBAN?',
    'no',
    'PayPal',
    'SEPA 24/7',
    'ORD-99812',
    'Anna Schmidt',
    'Sälger ni paraplyer?',
    'Kde najdu číslo účtu?',
    'Hol találom a számlaszámot?',
    'Hvor finner jeg kontonummeret?',
    'Şemsiye satıyor musunuz?',
    'Продаёте ли вы зонты?',
    'هل تبيعون المظلات؟',
    'أريد card جديدة',
    '傘を売っていますか？',
  ])('languageOf recognizes English or no language in: %s', (text) => {
    expect(languageOf(text) ?? 'en').toBe('en');
  });

  it('a letter in an order number is no word of a language', () => {
    expect(languageOf('A-1042')).toBeUndefined();
    expect(languageOfFirst(['A-1042', 'Bitte stornieren Sie meine Bestellung'])).toBe('de');
  });

  it('only the beginning of a long text is used to detect its language', () => {
    const quoted = `${'Ich habe eine Frage zu meiner Karte. '.repeat(15)}${'the and of '.repeat(700)}`;
    expect(languageOf(quoted)).toBe('de');
  });
});

describe('languageOfFirst', () => {
  it.each<[string, readonly string[], Language]>([
    ['that of the last message', ['Verkaufen Sie Schirme?', 'Do you sell umbrellas?'], 'de'],
    [
      'that of the newest earlier message that shows one, when the last message is too short',
      ['IBAN?', '👍', '¿Venden paraguas?', 'Hello'],
      'es',
    ],
    ['English, when no message shows a known language', ['IBAN?', 'هل تبيعون المظلات؟'], 'en'],
    ['English, when there is no message', [], 'en'],
  ])('the language of a conversation is %s', (_, texts, language) => {
    expect(languageOfFirst(texts)).toBe(language);
  });
});

describe('the agent’s own sentences', () => {
  const said = Object.entries(ownSentences).flatMap(([name, sentences]) =>
    languages.map((language) => [name, language, sentences[language]] as const),
  );

  it.each(said)('the agent’s own sentence %s in %s is unique and in that language', (_, language, sentence) => {
    expect(sentence).not.toBe('');
    expect(said.filter(([, , other]) => other === sentence)).toHaveLength(1);
    // A sentence of two words may be too short to detect its language.
    expect([language, undefined]).toContain(languageOf(sentence));
  });
});
