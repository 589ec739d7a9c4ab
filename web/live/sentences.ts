/** The sentences that the widget and the interview room share, by language, and the choice of a language. */

export const sentences = {
  en: {
    message: 'Your message',
    send: 'Send',
    you: 'You',
    waiting: 'Not sent yet',
    failed: 'Could not be sent',
    connecting: 'Connecting…',
    offline: 'You are offline. What you write is sent as soon as the connection is back.',
    reconnecting: 'The connection was lost; trying again. What you write is kept.',
    tooFast: 'That was very quick. Your messages are sent in a moment.',
  },
  de: {
    message: 'Ihre Nachricht',
    send: 'Senden',
    you: 'Sie',
    waiting: 'Noch nicht gesendet',
    failed: 'Konnte nicht gesendet werden',
    connecting: 'Verbindung wird aufgebaut …',
    offline: 'Sie sind offline. Was Sie schreiben, wird gesendet, sobald die Verbindung zurück ist.',
    reconnecting: 'Die Verbindung ist abgebrochen und wird erneut aufgebaut. Was Sie schreiben, bleibt erhalten.',
    tooFast: 'Das ging sehr schnell. Ihre Nachrichten werden gleich gesendet.',
  },
  fr: {
    message: 'Votre message',
    send: 'Envoyer',
    you: 'Vous',
    waiting: 'Pas encore envoyé',
    failed: 'N’a pas pu être envoyé',
    connecting: 'Connexion…',
    offline: 'Vous êtes hors ligne. Ce que vous écrivez sera envoyé dès que la connexion reviendra.',
    reconnecting: 'La connexion a été perdue et va être rétablie. Ce que vous écrivez est conservé.',
    tooFast: 'C’était très rapide. Vos messages seront envoyés dans un instant.',
  },
  es: {
    message: 'Su mensaje',
    send: 'Enviar',
    you: 'Usted',
    waiting: 'Aún no enviado',
    failed: 'No se pudo enviar',
    connecting: 'Conectando…',
    offline: 'No tiene conexión. Lo que escriba se enviará en cuanto vuelva.',
    reconnecting: 'Se perdió la conexión y se está restableciendo. Lo que escriba se conserva.',
    tooFast: 'Ha ido muy rápido. Sus mensajes se enviarán en un momento.',
  },
  ar: {
    message: 'رسالتك',
    send: 'إرسال',
    you: 'أنت',
    waiting: 'لم تُرسل بعد',
    failed: 'تعذّر الإرسال',
    connecting: 'جارٍ الاتصال…',
    offline: 'أنت غير متصل بالإنترنت. سيُرسل ما تكتبه فور عودة الاتصال.',
    reconnecting: 'انقطع الاتصال وتجري إعادة المحاولة. ما تكتبه محفوظ.',
    tooFast: 'أرسلت رسائل كثيرة بسرعة. ستُرسل رسائلك بعد لحظات.',
  },
};

/** The first of the wanted languages that has texts (`de-AT` counts as `de`); English when none has. */
export function localeOf<Texts extends { en: unknown }>(texts: Texts, wanted: readonly string[]): keyof Texts & string {
  const known = Object.keys(texts) as (keyof Texts & string)[];
  for (const language of wanted) {
    const found = known.find((locale) => language.toLowerCase().split('-')[0] === locale);
    if (found !== undefined) return found;
  }
  return 'en';
}
