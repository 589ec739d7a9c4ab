import { listed, type Words } from './lists.ts';

export const it: Words = {
  functionWords: listed(
    `che chi come cosa da dei della di dove e gli ho il io le mio nel non per quale quando quanto sono sul tra`,
  ),
  telling:
    listed(`altro anche appena arriva arrivato avete buongiorno buono cambiare carta chiamato chiami con conto costa del
    devo dimenticato documenti essere fatto fattura favore giorni grazie ha hanno in inclusa inclusa indirizzo la lo
    metta mi mia mie mille nessuno nulla numero o ordinato ordine ordini pacco parlare passi password perche perso
    persone piu posso potete prenotazione prenotazioni puo quali questo qui quindi reclamo restituire ricevuto
    rimborso risposta scarpe scrivere senza si sicuro spedizione stato sua team tecnico trovato ufficio un una
    vendete voglio vorrei`),
  asking: [],
  joining: [],
  leaning: [],
};
