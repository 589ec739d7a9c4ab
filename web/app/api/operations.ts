/** Written by `npm run operations`; not edited by hand. */
import type { z } from 'zod';
import type * as common from '../../../api/base/contract/common.ts';
import type * as accounts from '../../../api/access/contract/accounts.ts';
import type * as auth from '../../../api/access/contract/auth.ts';
import type * as hours from '../../../api/access/contract/hours.ts';
import type * as keys from '../../../api/access/contract/keys.ts';
import type * as notifications from '../../../api/access/contract/notifications.ts';
import type * as orgs from '../../../api/access/contract/orgs.ts';
import type * as integrations from '../../../api/integrations/contract/integrations.ts';
import type * as supportconfig from '../../../api/integrations/contract/supportconfig.ts';
import type * as documents from '../../../api/knowledge/contract/documents.ts';
import type * as knowledge from '../../../api/knowledge/contract/knowledge.ts';
import type * as crawl from '../../../api/crawl/contract/crawl.ts';
import type * as mcp from '../../../api/mcp/contract/mcp.ts';
import type * as approvals from '../../../api/chat/contract/approvals.ts';
import type * as cannedreplies from '../../../api/chat/contract/cannedreplies.ts';
import type * as golive from '../../../api/chat/contract/golive.ts';
import type * as inbox from '../../../api/chat/contract/inbox.ts';
import type * as live from '../../../api/chat/contract/live.ts';
import type * as search from '../../../api/chat/contract/search.ts';
import type * as tags from '../../../api/chat/contract/tags.ts';
import type * as widget from '../../../api/chat/contract/widget.ts';
import type * as outbox from '../../../api/events/contract/outbox.ts';
import type { InMode, None, OperationOf } from './call.ts';

export type CannedReply = z.output<typeof cannedreplies.cannedReply>;
export type Document = z.output<typeof documents.document>;
export type Gap = z.output<typeof knowledge.gap>;
export type InboxConversation = z.output<typeof inbox.conversation>;
export type InboxMessage = z.output<typeof inbox.inboxMessage>;
export type Integration = z.output<typeof integrations.integration>;
export type Key = z.output<typeof keys.key>;
export type Member = z.output<typeof orgs.member>;
export type Membership = z.output<typeof auth.membership>;
export type Note = z.output<typeof inbox.note>;
export type Notification = z.output<typeof notifications.notification>;
export type Page = z.output<typeof crawl.page>;
export type ToolApproval = z.output<typeof approvals.approval>;
export type ToolServer = z.output<typeof mcp.server>;
export type User = z.output<typeof auth.user>;
export const addMember: OperationOf<'orgId', None, typeof orgs.addMemberBody, typeof orgs.addedReply> = [
  'POST',
  '/orgs/{orgId}/members',
  true,
];
export const addNote: InMode<'orgId' | 'convId', None, typeof inbox.noteBody, typeof inbox.noteReply> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/notes',
];
export const approveToolCall: OperationOf<'orgId' | 'approvalId', None, None, typeof approvals.decidedReply> = [
  'POST',
  '/support/mcp/orgs/{orgId}/approvals/{approvalId}/approve',
  true,
];
export const assignConversation: InMode<'orgId' | 'convId', None, typeof inbox.assignBody, typeof inbox.actReply> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/assign',
];
export const cancelCrawl: InMode<'orgId', None, None, typeof crawl.crawlReply> = ['POST', '/orgs/{orgId}/crawl/cancel'];
export const changeCannedReply: OperationOf<
  'orgId' | 'replyId',
  None,
  typeof cannedreplies.changeBody,
  typeof cannedreplies.oneReply
> = ['PATCH', '/support/replies/orgs/{orgId}/{replyId}', true];
export const changeDocumentText: InMode<
  'orgId' | 'docId',
  None,
  typeof documents.textBody,
  typeof documents.documentReply
> = ['PUT', '/orgs/{orgId}/documents/{docId}/text'];
export const changeRole: OperationOf<'orgId' | 'userId', None, typeof orgs.changeRoleBody, typeof orgs.memberReply> = [
  'PATCH',
  '/orgs/{orgId}/members/{userId}',
  true,
];
export const connectEmail: OperationOf<
  'orgId',
  None,
  typeof integrations.emailBody,
  typeof integrations.integrationReply
> = ['PUT', '/orgs/{orgId}/integrations/email', true];
export const connectGithub: OperationOf<
  'orgId',
  None,
  typeof integrations.githubBody,
  typeof integrations.integrationReply
> = ['PUT', '/orgs/{orgId}/integrations/github', true];
export const connectLinear: OperationOf<
  'orgId',
  None,
  typeof integrations.linearBody,
  typeof integrations.integrationReply
> = ['PUT', '/orgs/{orgId}/integrations/linear', true];
export const connectSlack: OperationOf<'orgId', None, typeof integrations.slackBody, typeof integrations.slackReply> = [
  'PUT',
  '/orgs/{orgId}/integrations/slack',
  true,
];
export const connectTeams: OperationOf<'orgId', None, None, typeof integrations.teamsReply> = [
  'PUT',
  '/orgs/{orgId}/integrations/teams',
  true,
];
export const createCannedReply: OperationOf<
  'orgId',
  None,
  typeof cannedreplies.createBody,
  typeof cannedreplies.oneReply
> = ['POST', '/support/replies/orgs/{orgId}', true];
export const createKey: OperationOf<'orgId', None, typeof keys.createKeyBody, typeof keys.newKeyReply> = [
  'POST',
  '/support/developer-keys/orgs/{orgId}/keys',
  true,
];
export const deleteCrawlSchedule: InMode<'orgId' | 'scheduleId', None, None, typeof crawl.scheduleRemovedReply> = [
  'DELETE',
  '/orgs/{orgId}/crawl/schedules/{scheduleId}',
];
export const deleteDocument: InMode<'orgId' | 'docId', None, None, typeof documents.removedReply> = [
  'DELETE',
  '/orgs/{orgId}/documents/{docId}',
];
export const deletePage: InMode<'orgId' | 'pageId', None, None, typeof crawl.pageRemovedReply> = [
  'DELETE',
  '/orgs/{orgId}/knowledge-base/{pageId}',
];
export const deleteToolServer: InMode<'orgId', None, None, typeof mcp.serverReply> = [
  'DELETE',
  '/support/mcp/orgs/{orgId}/server',
];
export const denyToolCall: OperationOf<'orgId' | 'approvalId', None, None, typeof approvals.decidedReply> = [
  'POST',
  '/support/mcp/orgs/{orgId}/approvals/{approvalId}/deny',
  true,
];
export const disconnectIntegration: OperationOf<
  'orgId' | 'provider',
  None,
  None,
  typeof integrations.integrationReply
> = ['DELETE', '/orgs/{orgId}/integrations/{provider}', true];
export const discoverTools: InMode<'orgId', None, None, typeof mcp.discoverReply> = [
  'POST',
  '/support/mcp/orgs/{orgId}/discover',
];
export const escalateConversation: InMode<'orgId' | 'convId', None, typeof inbox.escalateBody, typeof inbox.actReply> =
  ['POST', '/support/inbox/orgs/{orgId}/{convId}/escalate'];
export const forgotPassword: OperationOf<never, None, typeof accounts.forgotBody, typeof accounts.acceptedReply> = [
  'POST',
  '/auth/password/forgot',
  true,
];
export const getBrowserLogin: OperationOf<never, None, None, typeof auth.browserOffer> = ['GET', '/auth/browser', true];
export const getConversation: InMode<
  'orgId' | 'convId',
  typeof inbox.messagesQuery,
  None,
  typeof inbox.conversationReply
> = ['GET', '/support/inbox/orgs/{orgId}/{convId}'];
export const getCrawlStatus: InMode<'orgId', typeof crawl.crawlStatusQuery, None, typeof crawl.crawlStatusReply> = [
  'GET',
  '/orgs/{orgId}/crawl/status',
];
export const getDelivery: InMode<'orgId' | 'deliveryId', None, None, typeof outbox.deliveryReply> = [
  'GET',
  '/support/outbox/orgs/{orgId}/deliveries/{deliveryId}',
];
export const getDocumentText: InMode<'orgId' | 'docId', None, None, typeof documents.textReply> = [
  'GET',
  '/orgs/{orgId}/documents/{docId}/text',
];
export const getHours: OperationOf<'orgId', None, None, typeof hours.hoursReply> = ['GET', '/orgs/{orgId}/hours', true];
export const getLogin: OperationOf<never, None, None, typeof auth.meReply> = ['GET', '/auth/me', true];
export const getNotices: OperationOf<never, None, None, typeof notifications.notices> = ['GET', '/me/notices', true];
export const getOrganization: OperationOf<'orgId', None, None, typeof orgs.organization> = [
  'GET',
  '/orgs/{orgId}',
  true,
];
export const getSupportConfig: InMode<'orgId', None, None, typeof supportconfig.supportConfigReply> = [
  'GET',
  '/support/config/orgs/{orgId}',
];
export const getToolServer: InMode<'orgId', None, None, typeof mcp.serverReply> = [
  'GET',
  '/support/mcp/orgs/{orgId}/server',
];
export const getWidget: OperationOf<'orgId', None, None, typeof widget.widgetReply> = [
  'GET',
  '/support/widget/orgs/{orgId}',
  true,
];
export const goLive: OperationOf<'orgId', None, typeof golive.goLiveBody, typeof golive.goLiveReply> = [
  'POST',
  '/orgs/{orgId}/go-live',
  true,
];
export const listCannedReplies: OperationOf<'orgId', None, None, typeof cannedreplies.cannedReplyList> = [
  'GET',
  '/support/replies/orgs/{orgId}',
  true,
];
export const listCrawlSchedules: InMode<'orgId', typeof common.pageQuery, None, typeof crawl.scheduleList> = [
  'GET',
  '/orgs/{orgId}/crawl/schedules',
];
export const listDeliveries: InMode<'orgId', typeof outbox.deliveriesQuery, None, typeof outbox.deliveriesReply> = [
  'GET',
  '/support/outbox/orgs/{orgId}/deliveries',
];
export const listDocuments: InMode<'orgId', typeof common.pageQuery, None, typeof documents.documentList> = [
  'GET',
  '/orgs/{orgId}/documents',
];
export const listGaps: InMode<'orgId', typeof knowledge.gapsQuery, None, typeof knowledge.gapList> = [
  'GET',
  '/orgs/{orgId}/kb/gaps',
];
export const listInbox: InMode<'orgId', typeof inbox.inboxQuery, None, typeof inbox.inboxReply> = [
  'GET',
  '/support/inbox/orgs/{orgId}',
];
export const listIntegrations: OperationOf<'orgId', None, None, typeof integrations.integrationList> = [
  'GET',
  '/orgs/{orgId}/integrations',
  true,
];
export const listInvitations: OperationOf<'orgId', typeof common.pageQuery, None, typeof accounts.invitationList> = [
  'GET',
  '/orgs/{orgId}/invitations',
  true,
];
export const listKeys: OperationOf<'orgId', typeof common.pageQuery, None, typeof keys.keyList> = [
  'GET',
  '/support/developer-keys/orgs/{orgId}/keys',
  true,
];
export const listMembers: OperationOf<'orgId', typeof orgs.membersQuery, None, typeof orgs.memberList> = [
  'GET',
  '/orgs/{orgId}/members',
  true,
];
export const listNotifications: OperationOf<
  never,
  typeof notifications.notificationsQuery,
  None,
  typeof notifications.notificationList
> = ['GET', '/me/notifications', true];
export const listPages: InMode<'orgId', typeof common.pageQuery, None, typeof crawl.pageList> = [
  'GET',
  '/orgs/{orgId}/knowledge-base',
];
export const listPublishableKeys: OperationOf<'orgId', None, None, typeof keys.publishableKeys> = [
  'GET',
  '/support/developer-keys/orgs/{orgId}/publishable-keys',
  true,
];
export const listTeamTags: OperationOf<'orgId', None, None, typeof tags.teamTags> = ['GET', '/orgs/{orgId}/tags', true];
export const listToolApprovals: InMode<'orgId', typeof common.pageQuery, None, typeof approvals.approvalsReply> = [
  'GET',
  '/support/mcp/orgs/{orgId}/approvals',
];
export const listToolAudit: InMode<'orgId', typeof mcp.auditQuery, None, typeof mcp.auditReply> = [
  'GET',
  '/support/mcp/orgs/{orgId}/audit',
];
export const loginBrowser: OperationOf<never, None, typeof auth.loginBody, typeof auth.browserReply> = [
  'POST',
  '/auth/browser',
  true,
];
export const logoutBrowser: OperationOf<never, None, None, typeof auth.browserLeft> = ['DELETE', '/auth/browser', true];
export const markConversationUnread: InMode<'orgId' | 'convId', None, None, typeof inbox.actReply> = [
  'DELETE',
  '/support/inbox/orgs/{orgId}/{convId}/read',
];
export const openLive: OperationOf<'orgId', None, None, typeof live.liveReply> = [
  'POST',
  '/support/live/orgs/{orgId}',
  true,
];
export const putToolServer: InMode<'orgId', None, typeof mcp.serverBody, typeof mcp.serverReply> = [
  'PUT',
  '/support/mcp/orgs/{orgId}/server',
];
export const queryKnowledge: InMode<'orgId', None, typeof knowledge.queryBody, typeof knowledge.queryReply> = [
  'POST',
  '/orgs/{orgId}/kb/query',
];
export const readNotification: OperationOf<'notifId', None, None, typeof notifications.notificationReply> = [
  'PUT',
  '/me/notifications/{notifId}/read',
  true,
];
export const recoverDeliveries: InMode<'orgId', None, typeof outbox.recoverBody, typeof outbox.recovered> = [
  'POST',
  '/support/outbox/orgs/{orgId}/recover',
];
export const redeliver: InMode<'orgId' | 'deliveryId', None, None, typeof outbox.deliveryReply> = [
  'POST',
  '/support/outbox/orgs/{orgId}/deliveries/{deliveryId}/redeliver',
];
export const removeCannedReply: OperationOf<'orgId' | 'replyId', None, None, typeof cannedreplies.removedReply> = [
  'DELETE',
  '/support/replies/orgs/{orgId}/{replyId}',
  true,
];
export const removeMember: OperationOf<
  'orgId' | 'userId',
  typeof orgs.removeMemberQuery,
  None,
  typeof orgs.removedReply
> = ['DELETE', '/orgs/{orgId}/members/{userId}', true];
export const removeNote: InMode<'orgId' | 'convId' | 'noteId', None, None, typeof inbox.actReply> = [
  'DELETE',
  '/support/inbox/orgs/{orgId}/{convId}/notes/{noteId}',
];
export const removeWidgetPicture: OperationOf<'orgId' | 'picture', None, None, typeof widget.widgetReply> = [
  'DELETE',
  '/support/widget/orgs/{orgId}/{picture}',
  true,
];
export const reopenConversation: InMode<'orgId' | 'convId', None, None, typeof inbox.actReply> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/reopen',
];
export const replyToConversation: InMode<'orgId' | 'convId', None, typeof inbox.replyBody, typeof inbox.replied> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/reply',
];
export const reprocessDocument: InMode<'orgId' | 'docId', None, None, typeof documents.documentReply> = [
  'POST',
  '/orgs/{orgId}/documents/{docId}/reprocess',
];
export const resolveConversation: InMode<'orgId' | 'convId', None, None, typeof inbox.actReply> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/resolve',
];
export const revokeInvitation: OperationOf<'orgId' | 'invitationId', None, None, typeof accounts.invitationReply> = [
  'DELETE',
  '/orgs/{orgId}/invitations/{invitationId}',
  true,
];
export const revokeKey: OperationOf<'orgId' | 'keyId', None, None, typeof keys.keyReply> = [
  'DELETE',
  '/support/developer-keys/orgs/{orgId}/keys/{keyId}',
  true,
];
export const rotateKey: OperationOf<'orgId' | 'keyId', None, typeof keys.rotateKeyBody, typeof keys.newKeyReply> = [
  'POST',
  '/support/developer-keys/orgs/{orgId}/keys/{keyId}/rotate',
  true,
];
export const rotatePublishableKey: OperationOf<'orgId' | 'mode', None, None, typeof keys.rotatedPublishableKey> = [
  'POST',
  '/support/developer-keys/orgs/{orgId}/publishable-keys/{mode}/rotate',
  true,
];
export const searchInbox: InMode<'orgId', typeof search.searchQuery, None, typeof search.searchReply> = [
  'GET',
  '/support/search/orgs/{orgId}',
];
export const seeGoLive: OperationOf<'orgId', None, None, typeof golive.goLiveReply> = [
  'GET',
  '/orgs/{orgId}/go-live',
  true,
];
export const sendTestEvent: InMode<'orgId', None, None, typeof outbox.deliveryReply> = [
  'POST',
  '/support/outbox/orgs/{orgId}/test',
];
export const setAvailability: OperationOf<
  never,
  None,
  typeof notifications.availabilityBody,
  typeof notifications.availabilityBody
> = ['PUT', '/me/availability', true];
export const setConversationPriority: InMode<
  'orgId' | 'convId',
  None,
  typeof inbox.priorityBody,
  typeof inbox.actReply
> = ['PUT', '/support/inbox/orgs/{orgId}/{convId}/priority'];
export const setConversationTags: InMode<'orgId' | 'convId', None, typeof inbox.tagsBody, typeof inbox.actReply> = [
  'PUT',
  '/support/inbox/orgs/{orgId}/{convId}/tags',
];
export const setDocumentAuthority: InMode<
  'orgId' | 'docId',
  None,
  typeof documents.authorityBody,
  typeof documents.documentReply
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/authority'];
export const setDocumentSegments: InMode<
  'orgId' | 'docId',
  None,
  typeof documents.segmentsBody,
  typeof documents.documentReply
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/segments'];
export const setDocumentSource: InMode<
  'orgId' | 'docId',
  None,
  typeof documents.sourceBody,
  typeof documents.documentReply
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/source'];
export const setGapStatus: InMode<'orgId', None, typeof knowledge.gapsBody, typeof knowledge.gapsChanged> = [
  'PATCH',
  '/orgs/{orgId}/kb/gaps',
];
export const setHours: OperationOf<'orgId', None, typeof hours.hoursBody, typeof hours.hoursReply> = [
  'PUT',
  '/orgs/{orgId}/hours',
  true,
];
export const setNotices: OperationOf<never, None, typeof notifications.noticesBody, typeof notifications.notices> = [
  'PUT',
  '/me/notices',
  true,
];
export const setPageAuthority: InMode<
  'orgId' | 'pageId',
  None,
  typeof documents.authorityBody,
  typeof crawl.pageReply
> = ['PATCH', '/orgs/{orgId}/knowledge-base/{pageId}/authority'];
export const setPageSegments: InMode<'orgId' | 'pageId', None, typeof documents.segmentsBody, typeof crawl.pageReply> =
  ['PATCH', '/orgs/{orgId}/knowledge-base/{pageId}/segments'];
export const setTeamTags: OperationOf<'orgId', None, typeof tags.teamTags, typeof tags.teamTags> = [
  'PUT',
  '/orgs/{orgId}/tags',
  true,
];
export const setWidget: OperationOf<'orgId', None, typeof widget.widgetBody, typeof widget.widgetReply> = [
  'PUT',
  '/support/widget/orgs/{orgId}',
  true,
];
export const setWidgetPicture: OperationOf<'orgId' | 'picture', None, FormData, typeof widget.widgetReply> = [
  'PUT',
  '/support/widget/orgs/{orgId}/{picture}',
  true,
];
export const snoozeConversation: InMode<'orgId' | 'convId', None, typeof inbox.snoozeBody, typeof inbox.actReply> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/snooze',
];
export const startCrawl: InMode<'orgId', None, typeof crawl.crawlBody, typeof crawl.crawlStartReply> = [
  'POST',
  '/orgs/{orgId}/crawl',
];
export const suggestReply: InMode<'orgId' | 'convId', None, None, typeof inbox.suggestion> = [
  'POST',
  '/support/inbox/orgs/{orgId}/{convId}/suggest',
];
export const testIntegration: OperationOf<'orgId' | 'provider', None, None, typeof integrations.testReply> = [
  'POST',
  '/orgs/{orgId}/integrations/{provider}/test',
  true,
];
export const unsnoozeConversation: InMode<'orgId' | 'convId', None, None, typeof inbox.actReply> = [
  'DELETE',
  '/support/inbox/orgs/{orgId}/{convId}/snooze',
];
export const updateSupportConfig: InMode<
  'orgId',
  None,
  typeof supportconfig.supportConfigBody,
  typeof supportconfig.supportConfigReply
> = ['PUT', '/support/config/orgs/{orgId}'];
export const uploadDocument: InMode<'orgId', None, FormData, typeof documents.uploadReply> = [
  'POST',
  '/orgs/{orgId}/documents',
];
export const verifyToolAudit: InMode<'orgId', typeof mcp.verifyQuery, None, typeof mcp.verifyReply> = [
  'GET',
  '/support/mcp/orgs/{orgId}/audit/verify',
];
export const writeArticle: InMode<'orgId', None, typeof documents.articleBody, typeof documents.articleReply> = [
  'POST',
  '/orgs/{orgId}/documents/text',
];
