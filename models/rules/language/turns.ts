/** Words that show where a question begins and what it leans on, in the languages that customers write in most. Folded. */

const listed = (words: string): readonly string[] => words.split(/\s+/u);

/** How a question begins. */
export const asking =
  listed(`how what when where who whose whom which why can could do does did is are was were will would should may must have has
  wie wann wo wer wem wen welche[rmns]? warum kann konnen gibt darf muss
  comment quand ou combien quel quelle quels quelles pourquoi est-ce
  como cuando donde cuanto cuanta cuantos cuantas cual cuales que quien puedo`);

/** What joins a question to the one before it. */
export const joining = listed(`and or but then so also please und oder aber et mais y o pero`);

/** Words that refer to something said before. */
export const leaning = listed(
  `it its this that these those they them one ones diese[rmns]? davon dafur ca cela eso esto`,
);
