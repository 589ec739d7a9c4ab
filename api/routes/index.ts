/** The list of all routes, by the tag they are documented under. The app, OpenAPI and the security tests read it. */
import { authRoutes } from './auth.ts';
import { configRoutes } from './config.ts';
import { crawlRoutes } from './crawl.ts';
import { documentRoutes } from './documents.ts';
import { keyRoutes } from './keys.ts';
import { knowledgeRoutes } from './knowledge.ts';
import { orgRoutes } from './orgs.ts';
import { pageRoutes } from './pages.ts';
import { recrawlRoutes } from './recrawl.ts';
import type { Route } from '../route.ts';

export type RouteGroups = Record<string, readonly Route[]>;

export const routeGroups = {
  'Sign-in': authRoutes,
  Organizations: orgRoutes,
  'Developer keys': keyRoutes,
  Documents: documentRoutes,
  Crawling: [...crawlRoutes, ...recrawlRoutes],
  'Knowledge base': [...knowledgeRoutes, ...pageRoutes],
  'Support configuration': configRoutes,
} satisfies RouteGroups;
