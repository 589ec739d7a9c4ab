/** English: the screen `knowledge`. */
export const knowledge = {};
