/**
 * The trace of the current request or activity, which records keep with their intents. The process says at its start
 * where it comes from (`useTrace`), because records know nothing of tracing.
 */
let read: () => string | undefined = () => undefined;

export const useTrace = (source: () => string | undefined): void => void (read = source);
/** The current `traceparent`, if there is one. */
export const currentTrace = (): string | undefined => read();
