/**
 * Connects the hooks that a slice calls with the later slices that implement them: a slice may not import a later one.
 */
import { provideCustomer } from '../models/chat/customer.ts';
import type { Hooks } from './context.ts';
import { canInviteByMail, changeAndTell, countOutside, mailAccount } from './events/accountmail.ts';
import { removeMeetingTasks } from './tasks/meetingtasks.ts';

export const hooks: Hooks = {
  mailAccount,
  changeAndTell,
  canInviteByMail,
  countOutside,
  provideCustomer,
  meetingRemoved: removeMeetingTasks,
};
