/** `npm run bench -- NAME`: runs one benchmark and prints the measurements beside the goals. */
import { EngineError } from '../engines/cache.ts';

const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  http: () => import('./http.ts'),
  query: () => import('./query.ts'),
  documents: () => import('./documents.ts'),
  fairness: () => import('./fairness.ts'),
  retrieval: () => import('./retrieval.ts'),
  crawl: () => import('./crawl.ts'),
  meaning: () => import('./meaning.ts'),
  chat: () => import('./chat.ts'),
  delivery: () => import('./delivery.ts'),
  notices: () => import('./notices.ts'),
  app: () => import('./app.ts'),
  search: () => import('./search.ts'),
  members: () => import('./members.ts'),
  redis: () => import('./redis.ts'),
  cost: () => import('./cost.ts'),
  storm: () => import('./storm.ts'),
  inbound: () => import('./inbound.ts'),
  embedding: () => import('./embedding.ts'),
  answers: () => import('./answers.ts'),
  interviews: () => import('./interviews.ts'),
  tasks: () => import('./tasks.ts'),
  meetings: () => import('./meetings.ts'),
  mcp: () => import('./mcp.ts'),
  operations: () => import('./operations.ts'),
  screenshots: () => import('./screenshots.ts'),
};

const name = process.argv[2] ?? '';
const load = benches[name];
if (!load) {
  console.error(`Usage: npm run bench -- NAME, with NAME one of: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
try {
  await (await load()).run();
} catch (error) {
  console.error(error instanceof EngineError ? error.message : error);
  process.exit(1);
}
