/** How a trace is carried: the name of the header, of the memo's field, and of the header to other systems. Pure. */
export const traceHeader = 'traceparent';
