/** English: all texts. Those of a screen stand under its name. */
import { base } from './base.ts';
import { deliveries } from './deliveries.ts';
import { knowledge } from './knowledge.ts';
import { settings } from './settings.ts';
import { start } from './start.ts';
import { tools } from './tools.ts';

export const en = { ...base, deliveries, knowledge, settings, start, tools };
