/** Makes speech readable: removes fillers, repetitions and false starts. Pure. */

const filler = /(?<![\p{L}'])(?:u+h*m+|u+h+|e+r+m*|h+m+|m+h*m+|mm-?hmm|'kay)(?![\p{L}'])[,.]?\s*/giu;
const phrase = /,?\s*\b(?:you know|I mean|sort of|kind of|kinda|sorta)\b,?(?=\s)/giu;
/** A repetition: `the the`, `we can we can`. */
const again = /(?<![\p{L}\p{N}'])((?:[\p{L}']+\s+){0,2}[\p{L}']+)[,.]?\s+\1(?![\p{L}'])/giu;
/** A false start: `y you`, `th the`. */
const begun =
  /(?<![\p{L}'])(?!(?:a|an|i|in|is|it|on|to|be|so|at|we|he|no|do|go|of|or|as|up|us|by|my|me|the|for|are|you|not|all|any|can|out|her|his|our|one|two|let|see|use)\s)(\p{L}{1,3})\s+(?=\1\p{L})/giu;

export function cleaned(text: string): string {
  const plain = text.replaceAll('’', "'").replaceAll(filler, '').replaceAll(phrase, '');
  let out = plain;
  for (let times = 0; times < 3; times += 1) {
    const next = out.replaceAll(begun, '').replaceAll(again, '$1');
    if (next === out) break;
    out = next;
  }
  return out
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/\s+([,.;:!?])/gu, '$1')
    .replaceAll(/([,;])(?:\s*[,;])+/gu, '$1')
    .replace(/^[\s,.;]+/u, '')
    .trim();
}
