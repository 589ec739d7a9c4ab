/** What a handler may reach. Everything comes in as an argument, so that a test can hand in its own. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Ai } from '../clients/ai/ai.ts';
import type { Search } from '../clients/search/search.ts';
import type { Config } from '../config.ts';
import type { Tokens } from './access/tokens.ts';
import type { SecretBox } from '../models/base/secretbox.ts';

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
