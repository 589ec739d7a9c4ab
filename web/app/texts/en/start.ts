/** English: the screen `start`. */
export const start = {};
