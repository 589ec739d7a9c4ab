/**
 * The handlers of inbound records (events from other services), by provider. A new provider's handler is registered
 * here.
 */
import type { Logger } from 'pino';
import type { InboundHandler } from '../../../providers/base/handled.ts';
import { handleEmail, type EmailDeps } from '../../../providers/mail/receive.ts';
import { handleGithub, type GithubDeps } from '../../../providers/github/receive.ts';
import { taskGithubPort } from '../../../providers/github/task.ts';
import { handleTeams, type TeamsDeps } from '../../../providers/teams/receive.ts';
import { handleLinear, type LinearDeps } from '../../../providers/linear/receive.ts';
import { taskIssuePort } from '../../../providers/linear/task.ts';
import { handleSlack, type SlackDeps } from '../../../providers/slack/receive.ts';
import { ticketIssuePort } from './ticket.ts';
import type { InboundProvider } from '../../../models/rules/events/inbound.ts';

export type InboundDeps = LinearDeps &
  GithubDeps &
  SlackDeps &
  EmailDeps &
  TeamsDeps & { clock: () => Date; log: Logger };
export type Handlers = Readonly<Partial<Record<InboundProvider, InboundHandler<InboundDeps>>>>;

export const handlers: Handlers = {
  linear: (...event) => handleLinear({ ticket: ticketIssuePort, task: taskIssuePort }, ...event),
  github: (...event) => handleGithub(taskGithubPort, ...event),
  slack: handleSlack,
  email: handleEmail,
  teams: handleTeams,
};
