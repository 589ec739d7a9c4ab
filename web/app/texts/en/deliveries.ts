/** English: the screen `deliveries`. */
export const deliveries = {};
