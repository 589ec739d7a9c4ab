import { listed, type Words } from './lists.ts';

export const de: Words = {
  functionWords:
    listed(`aber als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese dieser
    doch dort du durch ein eine einem einen einer eines er es euch fur gibt hat habe haben ich ihr im in ins ist
    ja kann kein keine konnen man mein meine meinem meinen meiner mich mir mit muss nach nicht noch nur ob oder
    ohne sehr sein sich sie sind so uber um und uns unser unter vom von vor wann war warum was weil wenn wer
    werden wie wieviel wird wir wo zu zum zur`),
  telling:
    listed(`abgebucht abgelehnt adresse anmelden ausland bekomme bekommen bestellen bestellt bestellung bezahlen bezahlt
    bitte brauche brauchen buchung dank danke dich eigentlich einloggen erhalten euro funktioniert gebuhr gebuhren
    gehen geht geld gern gesperrt gesendet gestern gibts guten habt hallo handy heute hilfe hatte ihre ihren
    ihnen immer mensch menschen mitarbeiter berater kundenservice sprechen ansprechpartner jetzt karte kaufen
    kostenlos kosten kostet konnte konto kundigen kundigung lange lieferung mehr mochte monat monatlich morgen
    nie niemand offen offnungszeiten paket passwort preis rechnung rucksendung ruckerstattung seit stornieren
    storniert tag tage uberweisung vergessen verkaufen verloren verstehe vielen vertrag wechseln welche welchen
    welcher welches wieder wieso will woche wurde wurden zahlen zahlung zuruck zweimal`),
  asking: listed(`wie wann wo wer wem wen welche[rmns]? warum kann konnen gibt darf muss`),
  joining: listed(`und oder aber`),
  leaning: listed(`diese[rmns]? davon dafur`),
};
