/**
 * Connects the functions that each slice's hooks.ts names with the slices that implement them. A slice may not import
 * the slices that follow it in docs/architecture.md ("Slices").
 */
import { provideCustomer } from '../models/chat/customer.ts';
import type { Hooks } from './context.ts';
import { canInviteByMail, changeAndTell, countOutside, hasOptedOut, mailAccount } from './events/accountmail.ts';
import { removeMeetingTasks } from './tasks/meetingtasks.ts';

export const hooks: Hooks = {
  mailAccount,
  changeAndTell,
  hasOptedOut,
  canInviteByMail,
  countOutside,
  provideCustomer,
  meetingRemoved: removeMeetingTasks,
};
