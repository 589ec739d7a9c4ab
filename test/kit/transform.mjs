import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** The transform of Jest. It removes types by blanking them, as Node does. */
export default {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source, path) => createHash('sha256').update(`${process.version}\0${path}\0${source}`).digest('hex'),
};
