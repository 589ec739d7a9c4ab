/** English: the screen `settings`. */
export const settings = {};
