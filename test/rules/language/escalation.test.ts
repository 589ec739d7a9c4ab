/** A greeting, thanks or a farewell is told from a question that comes along. */
import { describe, expect, it } from '@jest/globals';
import { courtesyIn } from '../../../models/rules/language/escalation.ts';

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
