/**
 * All slices (parts of the platform, such as chat and crawl). The fleets of worker processes and the sweeper's models
 * are collected from this list.
 */
import { chat } from './chat.ts';
import { crawl } from './crawl.ts';
import { events } from './events.ts';
import { interviews } from './interviews.ts';
import { knowledge } from './knowledge.ts';
import { mcp } from './mcp.ts';
import { tasks } from './tasks.ts';
import type { Slice } from './slice.ts';

/** The slices in the order in which the sweeper starts their workflows: work that people wait for comes first. */
export const slices = [chat, mcp, events, interviews, tasks, knowledge, crawl] as const satisfies readonly Slice[];
