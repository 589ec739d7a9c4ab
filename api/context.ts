/** The services that every route's handler gets as its argument `ctx`, so that tests can replace them. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Embedding } from '../clients/embedding/embedding.ts';
import type { SearchReader } from '../clients/knowledge/search/reader.ts';
import type { Config } from '../config.ts';
import type { AccessHooks } from './access/hooks.ts';
import type { Intelligence } from '../intelligence/intelligence.ts';
import type { Tokens } from './access/tokens.ts';
import type { InterviewHooks } from './interviews/hooks.ts';
import type { ResumeFiles } from './interviews/resumefiles.ts';
import type { SecretBox } from '../models/base/secretbox.ts';

export type Context = {
  config: Config;
  log: Logger;
  clock: () => Date;
  temporal: Client;
  /** Reads the search index. Only activities write to the index. */
  search: SearchReader;
  intelligence: Intelligence;
  embedding: Embedding;
  /** Reads resumes in child processes. */
  files: ResumeFiles;
  secrets: SecretBox;
  tokens: Tokens;
  hooks: Hooks;
};

/** Functions that a slice calls but may not import, because another slice implements them; see api/hooks.ts. */
export type Hooks = AccessHooks<Context> & InterviewHooks<Context>;
