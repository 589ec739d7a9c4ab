/** Every sentence that the widget itself says, by language. What people and the assistant say is not translated. */

const en = {
  title: 'Support',
  open: 'Open chat',
  openUnread: (count: number) => (count === 1 ? 'Open chat, 1 new message' : `Open chat, ${count} new messages`),
  close: 'Close chat',
  conversation: 'Conversation',
  messages: 'Messages',
  greeting: 'Hello! How can we help?',
  message: 'Your message',
  placeholder: 'Write a message…',
  send: 'Send',
  you: 'You',
  assistant: 'Assistant',
  team: 'Support team',
  writing: 'The assistant is writing…',
  sources: 'Sources',
  waiting: 'Not sent yet',
  failed: 'Could not be sent',
  connecting: 'Connecting…',
  offline: 'You are offline. What you write is sent as soon as the connection is back.',
  reconnecting: 'The connection was lost; trying again. What you write is kept.',
  tooFast: 'That was very quick. Your messages are sent in a moment.',
  ended: 'This chat session has ended. Please reload the page to go on.',
  unavailable: 'The chat is not available on this page.',
  escalated: 'A person from our team has been called and will answer here.',
  resolved: 'This conversation is closed. Write to go on with it.',
  end: 'End conversation',
  rate: 'How was our help?',
  rateLow: 'poor',
  rateHigh: 'very good',
  rateOf: (stars: number) => `${stars} of 5`,
  rateSend: 'Send and end',
  rateBack: 'Back',
  thanks: 'Thank you for your rating.',
};
export type Texts = typeof en;

const de: Texts = {
  title: 'Hilfe',
  open: 'Chat öffnen',
  openUnread: (count) => (count === 1 ? 'Chat öffnen, 1 neue Nachricht' : `Chat öffnen, ${count} neue Nachrichten`),
  close: 'Chat schließen',
  conversation: 'Unterhaltung',
  messages: 'Nachrichten',
  greeting: 'Guten Tag! Wie können wir helfen?',
  message: 'Ihre Nachricht',
  placeholder: 'Nachricht schreiben …',
  send: 'Senden',
  you: 'Sie',
  assistant: 'Assistent',
  team: 'Support-Team',
  writing: 'Der Assistent schreibt …',
  sources: 'Quellen',
  waiting: 'Noch nicht gesendet',
  failed: 'Konnte nicht gesendet werden',
  connecting: 'Verbindung wird aufgebaut …',
  offline: 'Sie sind offline. Was Sie schreiben, wird gesendet, sobald die Verbindung zurück ist.',
  reconnecting: 'Die Verbindung ist abgebrochen und wird erneut aufgebaut. Was Sie schreiben, bleibt erhalten.',
  tooFast: 'Das ging sehr schnell. Ihre Nachrichten werden gleich gesendet.',
  ended: 'Diese Chat-Sitzung ist beendet. Bitte laden Sie die Seite neu, um weiterzuschreiben.',
  unavailable: 'Der Chat ist auf dieser Seite nicht verfügbar.',
  escalated: 'Eine Person aus unserem Team wurde gerufen und antwortet hier.',
  resolved: 'Diese Unterhaltung ist abgeschlossen. Schreiben Sie, um sie fortzusetzen.',
  end: 'Unterhaltung beenden',
  rate: 'Wie war unsere Hilfe?',
  rateLow: 'schlecht',
  rateHigh: 'sehr gut',
  rateOf: (stars) => `${stars} von 5`,
  rateSend: 'Senden und beenden',
  rateBack: 'Zurück',
  thanks: 'Vielen Dank für Ihre Bewertung.',
};

const ar: Texts = {
  title: 'الدعم',
  open: 'فتح المحادثة',
  openUnread: (count) => `فتح المحادثة، الرسائل الجديدة: ${count}`,
  close: 'إغلاق المحادثة',
  conversation: 'المحادثة',
  messages: 'الرسائل',
  greeting: 'مرحبًا! كيف يمكننا مساعدتك؟',
  message: 'رسالتك',
  placeholder: 'اكتب رسالة…',
  send: 'إرسال',
  you: 'أنت',
  assistant: 'المساعد',
  team: 'فريق الدعم',
  writing: 'المساعد يكتب…',
  sources: 'المصادر',
  waiting: 'لم تُرسل بعد',
  failed: 'تعذّر الإرسال',
  connecting: 'جارٍ الاتصال…',
  offline: 'أنت غير متصل بالإنترنت. سيُرسل ما تكتبه فور عودة الاتصال.',
  reconnecting: 'انقطع الاتصال وتجري إعادة المحاولة. ما تكتبه محفوظ.',
  tooFast: 'أرسلت رسائل كثيرة بسرعة. ستُرسل رسائلك بعد لحظات.',
  ended: 'انتهت جلسة المحادثة. يُرجى إعادة تحميل الصفحة للمتابعة.',
  unavailable: 'المحادثة غير متاحة في هذه الصفحة.',
  escalated: 'تم استدعاء أحد أفراد فريقنا وسيجيبك هنا.',
  resolved: 'أُغلقت هذه المحادثة. اكتب رسالة لمتابعتها.',
  end: 'إنهاء المحادثة',
  rate: 'كيف كانت مساعدتنا؟',
  rateLow: 'ضعيفة',
  rateHigh: 'ممتازة',
  rateOf: (stars) => `${stars} من 5`,
  rateSend: 'إرسال وإنهاء',
  rateBack: 'رجوع',
  thanks: 'شكرًا على تقييمك.',
};

export const texts = { en, de, ar } as const;
export type Locale = keyof typeof texts;

/** The first of the wanted languages that there are texts in (`de-AT` is `de`); English when there is none. */
export function localeOf(wanted: readonly string[]): Locale {
  const known = Object.keys(texts) as Locale[];
  for (const language of wanted) {
    const found = known.find((locale) => language.toLowerCase().split('-')[0] === locale);
    if (found) return found;
  }
  return 'en';
}
