/** Who calls for a person is heard in four languages, and who only speaks of people is not. */
import { describe, expect, it } from '@jest/globals';
import { asksForPerson, courtesyIn } from '../../models/rules/escalation.ts';

describe('asksForPerson', () => {
  it.each([
    ['en', 'I want to talk to a human'],
    ['en', 'real person please'],
    ['en', 'Real person, please!'],
    ['en', 'Can I speak to someone?'],
    ['en', 'could you connect me with an agent'],
    ['en', 'Please transfer me to a representative.'],
    ['en', 'Let me speak with your manager'],
    ['en', 'human'],
    ['en', 'Agent!!'],
    ['en', 'I need a human'],
    ['en', "I'd like to chat with a live agent"],
    ['en', 'put me through to customer service'],
    ['en', 'get me a real person now'],
    ['en', 'Stop, I do not want a bot, I want a person'],
    ['en', 'no bots, a human please'],
    ['en', 'Please escalate this'],
    ['en', 'This is useless. Can I talk to a real person?'],
    ['en', 'Can someone from support… I mean, can I talk to support?'],
    ['de', 'Ich möchte mit einem Mitarbeiter sprechen'],
    ['de', 'Mitarbeiter sprechen'],
    ['de', 'Kann ich bitte mit einem echten Menschen reden?'],
    ['de', 'Verbinden Sie mich mit einem Berater'],
    ['de', 'Bitte an einen Mitarbeiter weiterleiten'],
    ['de', 'einen Menschen bitte'],
    ['de', 'Ich will mit jemandem sprechen'],
    ['fr', 'Je voudrais parler à un humain'],
    ['fr', 'parler à un conseiller'],
    ['fr', 'Puis-je parler avec quelqu’un ?'],
    ['fr', "Un conseiller, s'il vous plaît"],
    ['es', 'Quiero hablar con una persona'],
    ['es', '¿Puedo hablar con un agente?'],
    ['es', 'hablar con alguien'],
    ['es', 'Un agente, por favor'],
  ])('%s: %s', (language, text) => {
    expect(asksForPerson(text)).toBe(language);
  });

  it.each([
    'What is the e-mail of human resources?',
    'How do I contact human resources?',
    'I need a personal loan',
    'I want a personal loan for two people',
    'Can a second person use my account?',
    'How many people work for you?',
    'What are the agent fees?',
    'How do I become an agent?',
    'Is there a human rights policy?',
    'Does the card support contactless payment?',
    'Who is the contact person for deliveries?',
    'Can I send money to another person?',
    'How do I transfer money to a person abroad?',
    'Can I talk about my bill?',
    'What does a representative account cost?',
    'Wie viele Mitarbeiter haben Sie?',
    'Kann eine zweite Person die Karte nutzen?',
    'Was kostet ein Konto für Mitarbeiter?',
    'Combien coûte la carte pour une deuxième personne ?',
    '¿Cuánto cuesta para una persona?',
    'Can I get my money back?',
    'Was it a human error?',
    '',
  ])('not: %s', (text) => {
    expect(asksForPerson(text)).toBeUndefined();
  });

  it('takes no longer for a text made to be slow', () => {
    const texts = [
      'talk to '.repeat(250),
      `i need ${'a '.repeat(900)}`,
      `mit ${'einem '.repeat(300)}`,
      'parler à un '.repeat(160),
    ];
    for (const text of texts) expect(['en', 'de', 'fr', 'es', undefined]).toContain(asksForPerson(text));
  });
});

describe('courtesyIn', () => {
  it.each([
    ['Hello', 'greeting', 'en'],
    ['hi there!', 'greeting', 'en'],
    ['Guten Tag', 'greeting', 'de'],
    ['bonjour', 'greeting', 'fr'],
    ['¡Hola!', 'greeting', 'es'],
    ['Thanks!', 'thanks', 'en'],
    ['ok, thank you very much 🙏', 'thanks', 'en'],
    ['Vielen Dank!', 'thanks', 'de'],
    ['merci beaucoup', 'thanks', 'fr'],
    ['gracias', 'thanks', 'es'],
    ['Bye', 'farewell', 'en'],
    ['Auf Wiedersehen', 'farewell', 'de'],
  ])('%s', (text, kind, language) => {
    expect(courtesyIn(text)).toEqual({ kind, language });
  });

  it.each([
    'Hello, what does the card cost?',
    'thanks but that did not help',
    'Hi, my card is lost',
    'no thanks to you I lost money',
    'Merci de me dire combien coûte la carte',
    'bye bye bonus conditions',
    '',
  ])('a question that comes along is a question: %s', (text) => {
    expect(courtesyIn(text)).toBeUndefined();
  });
});
