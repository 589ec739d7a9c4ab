/** All nouns whose commands are described by tables. */
import { config, webhooks } from './config.ts';
import { crawl } from './crawl.ts';
import { deliveries } from './deliveries.ts';
import { inbox } from './inbox.ts';
import { integrations } from './integrations.ts';
import { interviews } from './interviews.ts';
import { keys } from './keys.ts';
import { docs, knowledge, pages } from './knowledge.ts';
import { meetings } from './meetings.ts';
import { members } from './members.ts';
import { notifications } from './notifications.ts';
import { sessions } from './sessions.ts';
import { tasks } from './tasks.ts';
import { approvals, tools } from './tools.ts';
import type { Noun } from '../described.ts';

export const nouns: readonly Noun[] = [
  keys,
  docs,
  crawl,
  pages,
  knowledge,
  inbox,
  members,
  config,
  webhooks,
  sessions,
  tools,
  approvals,
  deliveries,
  integrations,
  meetings,
  interviews,
  tasks,
  notifications,
];
