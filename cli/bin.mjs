#!/usr/bin/env node
/** What `support-platform` starts when it is installed as a command. Plain JavaScript: it may run under an old Node. */
import { runEntry } from '../engines/run.mjs';

await runEntry('cli/main.ts', process.argv.slice(2));
