/** What a handler may reach. Everything comes in as an argument, so that a test can hand in its own. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Embedding } from '../clients/embedding/embedding.ts';
import type { Files } from '../clients/files/files.ts';
import type { SearchReader } from '../clients/knowledge/search/reader.ts';
import type { Config } from '../config.ts';
import type { AccessHooks } from './access/hooks.ts';
import type { Intelligence } from '../intelligence/intelligence.ts';
import type { Tokens } from './access/tokens.ts';
import type { InterviewHooks } from './interviews/hooks.ts';
import type { SecretBox } from '../models/base/secretbox.ts';

export type Context = {
  config: Config;
  log: Logger;
  clock: () => Date;
  temporal: Client;
  /** The API reads the index; only activities write to it. */
  search: SearchReader;
  intelligence: Intelligence;
  embedding: Embedding;
  /** Reads resumes, each in a process of its own. */
  files: Files;
  secrets: SecretBox;
  tokens: Tokens;
  hooks: Hooks;
};

/** What slices ask of those that come after them. */
export type Hooks = AccessHooks<Context> & InterviewHooks<Context>;
