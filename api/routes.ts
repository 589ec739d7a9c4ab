/**
 * All routes, grouped by their tag in the documentation. The app, the OpenAPI document and the security tests use this
 * list.
 */
import { accountRoutes } from './access/routes/accounts.ts';
import { approvalRoutes } from './chat/routes/approvals.ts';
import { authRoutes } from './access/routes/auth.ts';
import { cannedReplyRoutes } from './chat/routes/cannedreplies.ts';
import { chatRoutes } from './chat/routes/chat.ts';
import { searchRoutes } from './chat/routes/search.ts';
import { statisticsRoutes } from './chat/routes/statistics.ts';
import { tagRoutes } from './chat/routes/tags.ts';
import { supportConfigRoutes } from './integrations/routes/supportconfig.ts';
import { crawlRoutes } from './crawl/routes/crawl.ts';
import { customerRoutes } from './chat/routes/customers.ts';
import { articleRoutes } from './knowledge/routes/articles.ts';
import { documentRoutes } from './knowledge/routes/documents.ts';
import { goLiveRoutes } from './chat/routes/golive.ts';
import { inboundRoutes } from './events/routes/inbound.ts';
import { inboxRoutes } from './chat/routes/inbox.ts';
import { interviewAidRoutes } from './interviews/routes/interviewaids.ts';
import { integrationRoutes } from './integrations/routes/integrations.ts';
import { botReportRoutes, interviewRoutes } from './interviews/routes/interviews.ts';
import { invitationRoutes } from './access/routes/invitations.ts';
import { liveRoutes } from './chat/routes/live.ts';
import { keyRoutes } from './access/routes/keys.ts';
import { knowledgeRoutes } from './knowledge/routes/knowledge.ts';
import { mailRoutes } from './events/routes/mail.ts';
import { meetingTaskRoutes } from './tasks/routes/meetingtasks.ts';
import { meetingRoutes } from './interviews/routes/meetings.ts';
import { notificationRoutes } from './access/routes/notifications.ts';
import { orgWebhookRoutes } from './events/routes/orgwebhook.ts';
import { outboxRoutes } from './events/routes/outbox.ts';
import { mcpRoutes } from './mcp/routes/mcp.ts';
import { hoursRoutes } from './access/routes/hours.ts';
import { orgRoutes } from './access/routes/orgs.ts';
import { pageRoutes } from './crawl/routes/pages.ts';
import { pruneRoutes } from './crawl/routes/prune.ts';
import { profileRoutes } from './access/routes/profile.ts';
import { recrawlRoutes } from './crawl/routes/recrawl.ts';
import { triageRoutes } from './chat/routes/triage.ts';
import { sessionRoutes } from './access/routes/sessions.ts';
import { taskRoutes } from './tasks/routes/tasks.ts';
import { webhookRoutes } from './events/routes/webhooks.ts';
import { widgetRoutes } from './chat/routes/widget.ts';
import type { Route } from './http/route.ts';

export type RouteGroups = Record<string, readonly Route[]>;

export const routeGroups = {
  'Sign-in': authRoutes,
  Accounts: [...profileRoutes, ...accountRoutes],
  Organizations: [...orgRoutes, ...invitationRoutes, ...hoursRoutes, ...goLiveRoutes],
  'Developer keys': keyRoutes,
  Documents: [...documentRoutes, ...articleRoutes],
  Crawling: [...crawlRoutes, ...recrawlRoutes],
  'Knowledge base': [...knowledgeRoutes, ...pageRoutes, ...pruneRoutes],
  'Tool server': [...mcpRoutes, ...approvalRoutes],
  Chat: chatRoutes,
  'Support configuration': [...supportConfigRoutes, ...widgetRoutes],
  'Support sessions': sessionRoutes,
  'Support inbox': [
    ...inboxRoutes,
    ...triageRoutes,
    ...cannedReplyRoutes,
    ...liveRoutes,
    ...searchRoutes,
    ...statisticsRoutes,
    ...tagRoutes,
  ],
  'Ticket events': outboxRoutes,
  'Customer data': customerRoutes,
  Meetings: meetingRoutes,
  Notifications: [...notificationRoutes, ...orgWebhookRoutes],
  Mails: mailRoutes,
  Integrations: integrationRoutes,
  'Inbound events': [...webhookRoutes, ...inboundRoutes],
  Interviews: [...interviewRoutes, ...interviewAidRoutes, ...botReportRoutes],
  Tasks: [...taskRoutes, ...meetingTaskRoutes],
} satisfies RouteGroups;
