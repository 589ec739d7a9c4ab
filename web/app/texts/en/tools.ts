/** English: the screen `tools`. */
export const tools = {};
