/** What a handler may reach. Everything comes in as an argument, so that a test can hand in its own. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Ai } from '../clients/ai.ts';
import type { Search } from '../clients/search.ts';
import type { Config } from '../config.ts';
import type { Tokens } from './tokens.ts';
import type { SecretBox } from '../models/secretbox.ts';

export type Context = {
  config: Config;
  log: Logger;
  clock: () => Date;
  temporal: Client;
  search: Search;
  ai: Ai;
  secrets: SecretBox;
  tokens: Tokens;
};
