/**
 * The name of the field that passes a trace on: in Temporal's headers and memos, and in HTTP headers to other systems.
 */
export const traceHeader = 'traceparent';
