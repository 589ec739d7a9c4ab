/**
 * The trace of the current request or activity. A record stores the trace with each intent to start a workflow, so that
 * the workflow belongs to the same trace. Each process sets at its start how the trace is read (`useTrace`), because
 * the models do not import the tracing code.
 */
let read: () => string | undefined = () => undefined;

export const useTrace = (source: () => string | undefined): void => void (read = source);
/** The current `traceparent`, if there is one. */
export const currentTrace = (): string | undefined => read();
