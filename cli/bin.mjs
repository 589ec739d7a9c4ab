#!/usr/bin/env node
/** The installed command `support-platform`. It is plain JavaScript, because it may run under an old Node. */
import { runEntry } from '../engines/run.mjs';

await runEntry('cli/main.ts', process.argv.slice(2));
