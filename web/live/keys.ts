/** What browsers tell about the keys that people press. */

/**
 * Whether the key belongs to an input method (IME), in which Enter may only confirm a word, and Escape only cancel it.
 * Safari ends the composition before it reports that key, so there only the key code 229 shows this.
 */
export const isComposing = (event: { isComposing: boolean; keyCode: number }): boolean =>
  event.isComposing || event.keyCode === 229;
