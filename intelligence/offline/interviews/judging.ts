/**
 * Patterns for prompt injection in a candidate's words: sentences that ask for points or to be hired, address a
 * language model, or give it instructions. Such sentences are neither scored nor quoted. Languages: en, de, fr, es.
 */
const judging: readonly RegExp[] = [
  /\b(?:give|award|assign|grant|deserve|want|need|get)\b.{0,50}\b(?:points?|scores?|marks|grades?|ratings?|10|ten)\b/iu,
  /\b(?:rate|score|mark|grade|evaluate|judge|recommend|hire|pass)\s+(?:me|this|my|the candidate|him|her|every|all)\b/iu,
  /\b(?:10\s*(?:\/|out of|of)\s*10|ten out of ten|full (?:points|marks|scores?)|(?:highest|maximum|max|top|perfect|best) (?:scores?|ratings?|points|marks|grades?))\b/iu,
  /\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instructions?|rules|above|previous|prompt|criteria)\b/iu,
  /\b(?:system prompt|as an ai|language model|(?:dear|attention|note to the?) (?:ai|evaluator|model|assistant|grader))\b/iu,
  /\b(?:gib|geben|vergib|verdiene)\b.{0,50}\b(?:punkte?|punktzahl|noten?|10|zehn)\b|\bbewerte\w*\s+(?:mich|sie mich|alles)|\bstell\w*\s+(?:sie\s+)?mich\s+ein\b|\b(?:volle|höchste)\s+(?:punkt\w*|noten?)|\bignorier\w*\b.{0,60}\b(?:anweisung\w*|regeln)/iu,
  /\b(?:donne\w*|mérite|attribue\w*)\b.{0,50}\b(?:points?|notes?|10|dix)\b|\bnotez?[- ]moi|\bembauche\w*[- ]moi|\bignore\w*\b.{0,60}\b(?:instructions?|consignes|règles)/iu,
  /\b(?:dame|deme|denme|merezco|asigna\w*)\b.{0,50}\b(?:puntos?|notas?|10|diez)\b|\bcalif[ií]ca\w*me|\bcontr[aá]t[ae]\w*me|\bignor[ae]\w*\b.{0,60}\b(?:instrucciones|reglas)/iu,
];
export const isAboutJudging = (sentence: string): boolean => judging.some((form) => form.test(sentence));
