/**
 * The trace of the current request or activity. Records store it with their intents, so that the workflow belongs to
 * the same trace. At its start, the process sets the function that reads the trace (`useTrace`), because the models do
 * not import the tracing code.
 */
let read: () => string | undefined = () => undefined;

export const useTrace = (source: () => string | undefined): void => void (read = source);
/** The current `traceparent`, if there is one. */
export const currentTrace = (): string | undefined => read();
