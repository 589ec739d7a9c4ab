/** What the providers' events do, by provider: the one place where a handler is added. */
import type { Logger } from 'pino';
import type { InboundHandler } from './handled.ts';
import { handleEmail, type EmailDeps } from './email.ts';
import { handleGithub, type GithubDeps } from './github.ts';
import { handleTeams, type TeamsDeps } from './teams.ts';
import { handleLinear, type LinearDeps } from './linear.ts';
import { handleSlack, type SlackDeps } from './slack.ts';
import type { InboundProvider } from '../../../models/rules/events/inbound.ts';

export type InboundDeps = LinearDeps &
  GithubDeps &
  SlackDeps &
  EmailDeps &
  TeamsDeps & { clock: () => Date; log: Logger };
export type Handlers = Readonly<Partial<Record<InboundProvider, InboundHandler<InboundDeps>>>>;

export const handlers: Handlers = {
  linear: handleLinear,
  github: handleGithub,
  slack: handleSlack,
  email: handleEmail,
  teams: handleTeams,
};
