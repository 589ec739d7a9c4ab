/** Words of Italian. */
import { listed, type Words } from './lists.ts';

export const it: Words = {
  functionWords: listed(
    `che chi come cosa da dei della di dove e gli ho il io le mio nel non per quale quando quanto sono sul tra`,
  ),
  telling:
    listed(`anche arriva carta con conto del dimenticato grazie ha hanno in la lo mia mie nessuno numero o ordine pacco
    perche perso piu posso potete quali questo si stato un una vorrei`),
  asking: [],
  joining: [],
  leaning: [],
};
