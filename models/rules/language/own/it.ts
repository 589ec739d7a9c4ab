import type { Own } from './own.ts';

export const it: Own = {
  called: 'Ho chiamato una persona del team. Le risponderà qui.',
  away: "In questo momento il team non c'è. Torna {when}.",
  greeting: 'Buongiorno! Che cosa desidera sapere?',
  thanks: 'Prego. Desidera sapere altro?',
  farewell: 'Arrivederci, e scriva di nuovo quando ne ha bisogno.',
  help: 'Certo. Rispondo alle domande con i documenti che ho ricevuto. Che cosa desidera sapere?',
  small_talk: 'Grazie di averlo chiesto. Sono qui per le domande sul nostro servizio. Che cosa desidera sapere?',
  bot: 'Sono un assistente automatico e rispondo con i documenti che ho ricevuto. Se preferisce una persona, la chieda e la chiamerò.',
  insult:
    'Mi dispiace che non stia andando bene. Può chiederlo con altre parole, oppure chiedere di parlare con una persona, e la chiamerò.',
  notFound:
    'Non ho trovato una risposta a questo nei documenti che ho. Può chiederlo con altre parole, oppure chiedere di parlare con una persona, e la chiamerò.',
  notFoundAgain:
    'Nemmeno a questo ho trovato una risposta, quindi ho chiamato una persona del team. Le risponderà qui.',
  outOfOrder: 'Al momento non posso verificarlo, quindi ho chiamato una persona del team. Le risponderà qui.',
  memberAsked: 'Prima deve acconsentire una persona del team. Glielo dirò qui appena sarà deciso.',
  actionDone: 'Fatto.',
  actionFailed:
    'Non ha funzionato. Per quanto vedo non è stato cambiato nulla; può riprovare oppure chiedere una persona.',
  actionUnknown:
    'Non so se sia stato eseguito, quindi non riprovo. Ho chiamato una persona del team, che verificherà e Le risponderà qui.',
  actionDeclined: 'Va bene, non è stato fatto nulla.',
  actionExpired:
    'Non è stato confermato in tempo, quindi non è stato fatto nulla. Lo chieda di nuovo se lo desidera ancora.',
  actionRefused: 'Il team non ha acconsentito, quindi non è stato fatto nulla.',
  signInFirst: 'Per questo devo sapere chi è Lei. Acceda e lo chieda di nuovo.',
  personOnly: 'Solo una persona può farlo, quindi ne ho chiamata una del team. Le risponderà qui.',
  needsMore: 'Posso occuparmene. Mi indichi, per favore:',
  overTestLimit:
    "Questa è una conversazione di prova, e l'organizzazione ha esaurito le risposte che la modalità di prova permette in un minuto. Chieda di nuovo tra un minuto.",
  nothingFound: 'Non ho trovato nulla su questo nei documenti disponibili.',
  mayHelp: 'Questo potrebbe aiutare:',
  nothingMore: 'I miei documenti non dicono su questo più di quanto ho scritto sopra.',
  newer: '(Secondo «{a}»; «{b}», più vecchio, dice altro.)',
  otherLanguage: 'I nostri documenti lo dicono in un’altra lingua:',
};
