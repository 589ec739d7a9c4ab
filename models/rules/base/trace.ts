/**
 * The name under which a trace is passed on: in Temporal's headers and memos, and as HTTP header to other systems.
 * Pure.
 */
export const traceHeader = 'traceparent';
