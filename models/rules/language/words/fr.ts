import { listed, type Words } from './lists.ts';

export const fr: Words = {
  functionWords:
    listed(`au aux avec c ce ces cette comment dans de des du elle en est et eux il ils j je l la le les leur lui ma
    mais me mes moi mon n ne nos notre nous on ou par pas pour pourquoi qu quand que quel quelle quels quelles
    qui sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y`),
  telling:
    listed(`acheter adresse aide ai annuler annulee argent as aujourd avez besoin bloque bloquee bonjour bonsoir carte
    ca chez colis conseiller conseillere humain parler quelqu combien commande compte compris connecter
    connexion cout coute depuis deux deja demain encore envoyer envoye essaie etais ete etes etre facture faire
    fait fermer fonctionne frais gratuit gratuite gratuits heure heures hier horaires impossible jamais jours
    livraison mensuel mensuels merci mois monsieur mot numero ouvert ouverts oublie paiement passe payer perdu
    peut peux plus prix puis quoi recevoir recu refuse refusee remboursement remplacer rien sans semaine suis
    svp telephone toujours trouver va virement voudrais veux`),
  asking: listed(`comment quand ou combien quel quelle quels quelles pourquoi est-ce`),
  joining: listed(`et mais`),
  leaning: listed(`ca cela`),
};
