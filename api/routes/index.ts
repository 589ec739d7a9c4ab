/** The list of all routes, by the tag they are documented under. The app, OpenAPI and the security tests read it. */
import { accountRoutes } from './accounts.ts';
import { authRoutes } from './auth.ts';
import { chatRoutes } from './chat.ts';
import { supportConfigRoutes } from './supportconfig.ts';
import { crawlRoutes } from './crawl.ts';
import { customerRoutes } from './customers.ts';
import { documentRoutes } from './documents.ts';
import { goLiveRoutes } from './golive.ts';
import { inboundRoutes } from './inbound.ts';
import { inboxRoutes } from './inbox.ts';
import { interviewAidRoutes } from './interviewaids.ts';
import { integrationRoutes } from './integrations.ts';
import { botReportRoutes, interviewRoutes } from './interviews.ts';
import { invitationRoutes } from './invitations.ts';
import { keyRoutes } from './keys.ts';
import { knowledgeRoutes } from './knowledge.ts';
import { mailRoutes } from './mail.ts';
import { meetingTaskRoutes } from './meetingtasks.ts';
import { meetingRoutes } from './meetings.ts';
import { notificationRoutes } from './notifications.ts';
import { outboxRoutes } from './outbox.ts';
import { mcpRoutes } from './mcp.ts';
import { orgRoutes } from './orgs.ts';
import { pageRoutes } from './pages.ts';
import { recrawlRoutes } from './recrawl.ts';
import { sessionRoutes } from './sessions.ts';
import { taskExecutionRoutes } from './taskexecution.ts';
import { taskRoutes } from './tasks.ts';
import { webhookRoutes } from './webhooks.ts';
import type { Route } from '../http/route.ts';

export type RouteGroups = Record<string, readonly Route[]>;

export const routeGroups = {
  'Sign-in': authRoutes,
  Accounts: accountRoutes,
  Organizations: [...orgRoutes, ...invitationRoutes, ...goLiveRoutes],
  'Developer keys': keyRoutes,
  Documents: documentRoutes,
  Crawling: [...crawlRoutes, ...recrawlRoutes],
  'Knowledge base': [...knowledgeRoutes, ...pageRoutes],
  'Tool server': mcpRoutes,
  Chat: chatRoutes,
  'Support configuration': supportConfigRoutes,
  'Support sessions': sessionRoutes,
  'Support inbox': inboxRoutes,
  'Ticket events': outboxRoutes,
  'Customer data': customerRoutes,
  Meetings: meetingRoutes,
  Notifications: notificationRoutes,
  Mails: mailRoutes,
  Integrations: integrationRoutes,
  'Inbound events': [...webhookRoutes, ...inboundRoutes],
  Interviews: [...interviewRoutes, ...interviewAidRoutes, ...botReportRoutes],
  Tasks: [...taskRoutes, ...taskExecutionRoutes, ...meetingTaskRoutes],
} satisfies RouteGroups;
