/** Puts messages and stack traces of failures into a payload, which the payload codec encrypts. */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
