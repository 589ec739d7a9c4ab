/**
 * The trace of the current request or activity, which records store with their intents. The process sets the source of
 * the trace at its start (`useTrace`), because the models do not import the tracing code.
 */
let read: () => string | undefined = () => undefined;

export const useTrace = (source: () => string | undefined): void => void (read = source);
/** The current `traceparent`, if there is one. */
export const currentTrace = (): string | undefined => read();
