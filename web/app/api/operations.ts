/** Written by `npm run operations`; not edited by hand. */

import type { Operation } from './call.ts';

export type Hours = {
  timezone: string;
  week: {
    mon?: { from: string; until: string }[];
    tue?: { from: string; until: string }[];
    wed?: { from: string; until: string }[];
    thu?: { from: string; until: string }[];
    fri?: { from: string; until: string }[];
    sat?: { from: string; until: string }[];
    sun?: { from: string; until: string }[];
  };
  closed: string[];
  away_message: string | null;
};

export type User = { userId: string; email: string; name: string; picture?: string };

export type Membership = { org_id: string; name: string; role: 'owner' | 'admin' | 'member' };

export type Profile = {
  userId: string;
  email: string;
  email_verified: boolean;
  name: string;
  picture: string | null;
  created_at: string;
  organizations: Membership[];
};

export type Organization = {
  org_id: string;
  name: string;
  environment: 'sandbox' | 'production';
  role: 'owner' | 'admin' | 'member';
  created_at: string;
};

export type Member = {
  userId: string;
  email: string;
  email_verified: boolean;
  name: string;
  picture?: string;
  role: 'owner' | 'admin' | 'member';
  joined_at: string;
};

export type Invitation = {
  invitation_id: string;
  org_id: string;
  email: string;
  role: 'owner' | 'admin' | 'member';
  status: 'pending' | 'accepted' | 'revoked' | 'expired';
  invited_by: string;
  created_at: string;
  expires_at: string;
  accepted_by?: string;
  joined_at?: string;
};

export type Key = {
  org_id: string;
  key_id: string;
  name: string;
  scopes: ('mcp:read' | 'mcp:write' | 'support:read' | 'support:write' | 'sessions:mint')[];
  mode: 'test' | 'live' | null;
  environment: 'test' | 'live';
  status: 'active' | 'expired' | 'revoked';
  token_prefix: string;
  created_by_user_id: string;
  created_at: string;
  updated_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};

export type Warning = { code: 'LIVE_KEY_NOT_ACTIVE'; message: string };

export type Document = {
  doc_id: string;
  org_id: string;
  mode: 'test' | 'live';
  filename: string;
  title?: string;
  public_url?: string;
  mime_type: string;
  file_size: number;
  sha256: string;
  status: 'uploaded' | 'processing' | 'indexed' | 'failed';
  error?: string;
  chunk_count: number;
  segments: string[];
  authority: 'primary' | 'normal' | 'background';
  uploaded_by: string;
  created_at: string;
  updated_at: string;
  indexed_at: string | null;
  embedded_at: string | null;
};

export type CrawlStatus = {
  status: 'idle' | 'crawling' | 'completed' | 'failed' | 'cancelled' | 'limit_reached';
  crawl_id: string | null;
  url: string | null;
  source: 'live' | 'last_run';
  pages_found: number;
  pages_processed: number;
  pages_unchanged: number;
  pages_skipped: number;
  pages_failed: number;
  pages_to_embed: number;
  problems: { url: string; reason: string }[];
  problem_counts: { code: string; count: number }[];
  started_at: string | null;
  completed_at: string | null;
  error?: string;
};

export type CrawlSchedule = {
  schedule_id: string;
  org_id: string;
  mode: 'test' | 'live';
  url: string;
  every_hours: number;
  max_pages: number;
  segments?: string[];
  authority?: 'primary' | 'normal' | 'background';
  created_at: string;
  next_crawl_at: string;
  last_crawl_id: string | null;
  last_skipped?: { at: string; reason: string };
};

export type Offer = {
  heading: string;
  question: string;
  says: string;
  source: { type: 'document' | 'website'; id: string; name: string; url?: string };
};

export type Gap = {
  question: string;
  count: number;
  first_asked: string;
  last_asked: string;
  why_missing: 'nothing_found' | 'not_relevant' | 'out_of_segment';
  near: { source_id: string; name: string; heading: string; score: number }[];
  gap_ids: string[];
  status: 'open' | 'acknowledged' | 'resolved';
};

export type Page = {
  page_id: string;
  id: string;
  org_id: string;
  mode: 'test' | 'live';
  source_url: string;
  title: string;
  status: 'indexed';
  segments: string[];
  authority: 'primary' | 'normal' | 'background';
  chunk_count: number;
  content_sha256: string;
  crawled_at: string;
  embedded_at: string | null;
};

export type Orphan = { source_id: string; url?: string; chunks: number };

export type ToolServer = {
  server_label: string;
  endpoint_url: string;
  auth_type: 'none' | 'bearer' | 'oauth2';
  has_access_token: boolean;
  has_client_secret: boolean;
  signed_in: boolean;
  oauth: {
    grant_type?: 'client_credentials' | 'authorization_code';
    token_url?: string;
    client_id?: string;
    scopes?: string[];
  } | null;
  protocol_version: string | null;
  environment?: 'sandbox' | 'production';
  enabled: boolean;
  rate_limit_per_min: number;
  approved_tools: ApprovedTool[];
  last_discovered_at: string | null;
  created_at: string;
  updated_at: string;
};

export type ApprovedTool = {
  source_name: string;
  tool_name: string;
  description: string;
  input_schema: Record<string, unknown>;
  output_schema?: Record<string, unknown>;
  kind: 'action' | 'resource';
  risk_tier:
    'read_public' | 'read_private' | 'safe_write' | 'customer_confirm' | 'step_up' | 'admin_approve' | 'human_only';
  auth_scope: 'public' | 'verified_visitor' | 'verified_customer';
  enabled: boolean;
  timeout_ms: number;
  allowed_channels: ('chat' | 'email')[];
  rate_limit_per_min?: number;
  problem?: string;
  notes?: string[];
  suspended: boolean;
};

export type ToolApproval = {
  id: string;
  mode: 'test' | 'live';
  tool_name: string;
  title: string;
  risk_tier:
    'read_public' | 'read_private' | 'safe_write' | 'customer_confirm' | 'step_up' | 'admin_approve' | 'human_only';
  auth_scope: 'public' | 'verified_visitor' | 'verified_customer';
  conversation_id: string;
  customer_id: string;
  arguments: Record<string, unknown>;
  arguments_sha256: string;
  created_at: string;
  expires_at: string | null;
};

export type SupportConfig = {
  org_id: string;
  environment: 'sandbox' | 'production';
  kb_segment_strict: boolean;
  outbox_providers: ('slack' | 'linear' | 'webhook')[];
  outbox_webhook_url: string | null;
  has_outbox_webhook_secret: boolean;
  allowed_origins: string[];
  updated_at: string | null;
};

export type InboxConversation = {
  conv_id: string;
  org_id: string;
  mode: 'test' | 'live';
  status: 'open' | 'pending' | 'escalated' | 'resolved';
  customer: { customer_id: string; name?: string; email?: string; contact_email?: string; verified: boolean };
  preview: string;
  last_message_at: string | null;
  unread: number;
  position: number;
  read_position: number | null;
  assigned_to: string | null;
  ticket: Ticket | null;
  csat: number | null;
  tags: string[];
  priority: 'low' | 'medium' | 'high' | 'urgent' | null;
  snoozed: { until: string | null; by: string } | null;
  waiting_since: string | null;
  note_count: number;
  created_at: string;
  updated_at: string;
};

export type Ticket = {
  ticket_id: string;
  status: 'open' | 'in_progress' | 'pending' | 'escalated' | 'resolved' | 'closed';
  reason: 'asked' | 'no_context' | 'human_only' | 'unknown_outcome' | 'member' | 'replied' | 'failed';
  description: string;
  created_at: string;
  updated_at: string;
};

export type InboxMessage = {
  id: string;
  role: 'customer' | 'ai' | 'agent' | 'system';
  body: string;
  timestamp: string;
  client_message_id?: string;
  sources?: { type: 'document' | 'website'; id: string; name: string; title?: string; url?: string; score: number }[];
  has_context?: boolean;
  confidence?: 'high' | 'low';
  offers?: Offer[];
  sender_name?: string;
  sender_id?: string;
  record?: Record<string, unknown>;
  mail?: { subject: string; full_text?: string; attachments: { filename: string; mime_type: string; bytes: number }[] };
};

export type Note = { note_id: string; author: string; body: string; mentions: string[]; at: string };

export type CannedReply = {
  reply_id: string;
  shortcut: string;
  body: string;
  shared: boolean;
  created_at: string;
  updated_at: string;
};

export type Delivery = {
  delivery_id: string;
  org_id: string;
  mode: 'test' | 'live';
  kind: 'webhook' | 'slack' | 'linear' | 'github' | 'email' | 'notification';
  event_id: string;
  event_type: string;
  destination: string;
  status: 'pending' | 'delivered' | 'retrying' | 'failed' | 'suppressed';
  attempts: { at: string; status_code?: number; duration_ms: number; error?: string; response_head?: string }[];
  next_attempt_at: string | null;
  error: string | null;
  request: { method: string; url: string; headers: Record<string, string>; body: string } | null;
  result: { id?: string; url?: string } | null;
  conv_id: string | null;
  ticket_id: string | null;
  created_at: string;
  delivered_at: string | null;
};

export type Destination = {
  mode: 'test' | 'live';
  kind: 'webhook' | 'slack' | 'linear' | 'github' | 'email' | 'notification';
  status: 'active' | 'failing' | 'disabled';
  slow: boolean;
  failing_since: string | null;
  last_error: string | null;
  disabled_at: string | null;
};

export type Meeting = {
  meeting_id: string;
  title: string;
  status: 'active' | 'completed';
  started_at: string;
  ended_at: string | null;
  participant_count: number;
  has_summary: boolean;
  transcript: Segment[];
  participants: { name: string; segments: number; is_ai: boolean }[];
  metadata: {
    segment_count: number;
    character_count: number;
    duration_seconds: number;
    title_generated: boolean;
    updated_at: string;
  };
  settings: {
    personality: 'supportive' | 'challenger' | 'facilitator' | 'analyst';
    participation_level: 'low' | 'medium' | 'high';
    wake_word_enabled: boolean;
    proactive_suggest: boolean;
    timezone: string;
  };
  ttl_days: number;
  expires_at: string;
};

export type Segment = { id: string; speaker: string; text: string; timestamp: string; is_ai: boolean };

export type MeetingItem = {
  meeting_id: string;
  title: string;
  status: 'active' | 'completed';
  started_at: string;
  ended_at: string | null;
  participant_count: number;
  has_summary: boolean;
};

export type MeetingSummary = {
  meeting_id: string;
  mode: 'short' | 'long';
  summary: string;
  key_points: string[];
  action_items: string[];
  generated_at: string;
  generated_by: 'extractive' | 'model';
  cached: boolean;
};

export type Notification = {
  notif_id: string;
  kind: string;
  title: string;
  body: string;
  task_id?: string;
  conv_id?: string;
  approval_id?: string;
  delivery_id?: string;
  org_id: string;
  mode?: 'test' | 'live';
  read: boolean;
  created_at: string;
};

export type Notices = {
  browser: boolean;
  sound: boolean;
  mail: boolean;
  mail_after_minutes: number;
  quiet_hours: { from: string; until: string; timezone: string } | null;
};

export type OrgWebhooks = {
  slack_webhook_url: string | null;
  email_notifications: boolean;
  notify_on: (
    | 'task_created'
    | 'task_assigned'
    | 'task_updated'
    | 'task_completed'
    | 'task_executed'
    | 'meeting_ended'
    | 'summary_ready'
    | 'conversation_escalated'
    | 'conversation_assigned'
    | 'customer_replied'
    | 'mentioned'
    | 'snooze_over'
    | 'approval_waiting'
    | 'delivery_failed'
  )[];
};

export type Integration = {
  provider: 'linear' | 'slack' | 'github' | 'email' | 'teams';
  status: 'connected' | 'broken' | 'disconnected';
  account: string | null;
  settings: Record<string, unknown>;
  receives_events: boolean;
  connected_at: string | null;
  broken_reason?: string;
};

export type Inbound = {
  inbound_id: string;
  org_id: string;
  mode: 'test' | 'live';
  provider: 'linear' | 'github' | 'slack' | 'teams' | 'email';
  type: string;
  status: 'stored' | 'processed' | 'ignored' | 'failed';
  reason: string | null;
  outcome: string | null;
  attempts: number;
  received_at: string;
  settled_at: string | null;
  next_attempt_at: string | null;
};

export type Interview = {
  interview_id: string;
  org_id: string;
  role_title: string;
  status: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
  mode: 'solo' | 'copilot' | 'shadow';
  language: 'en' | 'de' | 'fr' | 'es';
  candidate: { name: string | null; email: string | null; resume_parsed: boolean; resume_error?: string };
  scheduled_at: string | null;
  overall_score: number | null;
  decision: {
    decision: 'hire' | 'no_hire' | 'next_round' | 'undecided';
    notes: string | null;
    decided_by: string;
    decided_at: string;
  } | null;
  created_at: string;
  updated_at: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count: number;
  questions: Question[];
  meeting_url: string | null;
  room?: { candidate_url: string; interviewer_url: string; ws_url: string };
  transcript: Segment[];
  qa_summary: QaSummary | null;
  evaluation: Evaluation | null;
  scorecards: Scorecard[];
  history: Move[];
  failure: { reason: string; message: string } | null;
};

export type Question = { question_id: string; category: string; body: string };

export type QaSummary = {
  summary: string;
  items: { question_id: string | null; category: string | null; question: string; answer: string; answered: boolean }[];
  questions: number;
  answered: number;
  ended_early: boolean;
  generated_by: 'extractive' | 'model';
  generated_at: string;
};

export type Evaluation = {
  overall_score: number;
  criteria: Record<string, number>;
  evidence: { criterion: string; quote: string }[];
  recommendation: 'hire' | 'no_hire' | 'next_round' | 'undecided';
  strengths: string[];
  concerns: string[];
  ended_early: boolean;
  generated_by: 'rules' | 'model';
  confidence?: 'low';
  generated_at: string;
};

export type Scorecard = {
  user_id: string;
  name: string;
  criteria: Record<string, number>;
  notes: string | null;
  recommendation: 'hire' | 'no_hire' | 'next_round' | 'undecided' | null;
  updated_at: string;
};

export type Move = {
  from: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
  to: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
  operation:
    | 'update'
    | 'schedule'
    | 'start'
    | 'join'
    | 'join_failed'
    | 'no_show'
    | 'refuse'
    | 'rejoin'
    | 'end'
    | 'evaluate'
    | 'score'
    | 'decide'
    | 'scorecard'
    | 'cancel'
    | 'delete';
  actor: string;
  at: string;
  cause?: string;
  reason?: string;
};

export type InterviewItem = {
  interview_id: string;
  org_id: string;
  role_title: string;
  status: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
  mode: 'solo' | 'copilot' | 'shadow';
  language: 'en' | 'de' | 'fr' | 'es';
  candidate: { name: string | null; email: string | null; resume_parsed: boolean; resume_error?: string };
  scheduled_at: string | null;
  overall_score: number | null;
  decision: {
    decision: 'hire' | 'no_hire' | 'next_round' | 'undecided';
    notes: string | null;
    decided_by: string;
    decided_at: string;
  } | null;
  created_at: string;
  updated_at: string;
};

export type InterviewDraft = {
  role_title: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count: number;
  questions: { category: string; body: string }[];
  questions_signature: string;
  mode: 'solo' | 'copilot' | 'shadow';
  language: 'en' | 'de' | 'fr' | 'es';
  meeting_url: string | null;
  scheduled_at: string | null;
  candidate_email: string | null;
  candidate_name: string | null;
};

export type Task = {
  task_id: string;
  org_id: string;
  session_id: string | null;
  title: string;
  description: string | null;
  assigned_to: string | null;
  assignee_email: string | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  task_type: string | null;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  due_date: string | null;
  source_quote: string | null;
  email_execution_enabled: boolean;
  execution_status: 'not_started' | 'running' | 'completed' | 'failed';
  review_status: 'not_reviewed' | 'needs_changes' | 'ready';
  created_by: string;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
  external_links: { provider: string; id: string; url: string }[];
  history: {
    at: string;
    source: 'member' | 'linear' | 'github' | 'execution' | 'extraction' | 'membership' | 'retention';
    actor: string | null;
    changed: string[];
    note: string | null;
  }[];
};

export type TaskItem = {
  task_id: string;
  org_id: string;
  session_id: string | null;
  title: string;
  description: string | null;
  assigned_to: string | null;
  assignee_email: string | null;
  priority: 'low' | 'medium' | 'high' | 'urgent';
  task_type: string | null;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
  due_date: string | null;
  source_quote: string | null;
  email_execution_enabled: boolean;
  execution_status: 'not_started' | 'running' | 'completed' | 'failed';
  review_status: 'not_reviewed' | 'needs_changes' | 'ready';
  created_by: string;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
  external_links: { provider: string; id: string; url: string }[];
};

export type TaskReview = {
  task_id: string;
  review_status: 'not_reviewed' | 'needs_changes' | 'ready';
  missing: { field: string; message: string }[];
  vague: { field: string; message: string; words: string[] }[];
  suggestion: { title: string; description: string };
  executable: boolean;
  blockers: string[];
  steps: { integration: 'linear' | 'github' | 'slack' | 'email'; applies: boolean; reason?: string }[];
  generated_by: 'extractive' | 'model';
};

export type TaskResult = {
  task_id: string;
  execution_status: 'not_started' | 'running' | 'completed' | 'failed';
  steps: {
    integration: 'linear' | 'github' | 'slack' | 'email';
    status: 'running' | 'succeeded' | 'failed' | 'skipped' | 'suppressed';
    attempts: number;
    url?: string;
    error?: string;
    delivered_at?: string;
  }[];
  executed_at: string | null;
};

export const register: Operation<
  Record<string, never>,
  Record<string, never>,
  { email: string; password: string; name: string; company?: string },
  { token: string; expires_at: string; user: User; organizations: Membership[] }
> = ['POST', '/auth/register', true];

export const login: Operation<
  Record<string, never>,
  Record<string, never>,
  { email: string; password: string },
  { token: string; expires_at: string; user: User; organizations: Membership[] }
> = ['POST', '/auth/login', true];

export const getLogin: Operation<
  Record<string, never>,
  Record<string, never>,
  undefined,
  { user: User; organizations: Membership[] }
> = ['GET', '/auth/me', true];

export const getBrowserLogin: Operation<
  Record<string, never>,
  Record<string, never>,
  undefined,
  { providers: string[] }
> = ['GET', '/auth/browser', true];

export const loginBrowser: Operation<
  Record<string, never>,
  Record<string, never>,
  { email: string; password: string },
  { expires_at: string; user: User; organizations: Membership[] }
> = ['POST', '/auth/browser', true];

export const logoutBrowser: Operation<Record<string, never>, Record<string, never>, undefined, { signed_out: true }> = [
  'DELETE',
  '/auth/browser',
  true,
];

export const getProfile: Operation<Record<string, never>, Record<string, never>, undefined, Profile> = [
  'GET',
  '/me',
  true,
];

export const setPicture: Operation<
  Record<string, never>,
  Record<string, never>,
  { picture: string | null },
  Profile
> = ['PUT', '/me/picture', true];

export const forgotPassword: Operation<
  Record<string, never>,
  Record<string, never>,
  { email: string },
  { accepted: true }
> = ['POST', '/auth/password/forgot', true];

export const resetPassword: Operation<
  Record<string, never>,
  Record<string, never>,
  { token: string; password: string },
  { reset: true }
> = ['POST', '/auth/password/reset', true];

export const endLogins: Operation<Record<string, never>, Record<string, never>, undefined, { signed_out: true }> = [
  'POST',
  '/auth/logout-everywhere',
  true,
];

export const changeEmail: Operation<
  Record<string, never>,
  Record<string, never>,
  { email: string; password: string },
  { accepted: true }
> = ['POST', '/auth/email', true];

export const confirmEmail: Operation<Record<string, never>, Record<string, never>, { token: string }, Profile> = [
  'POST',
  '/auth/email/confirm',
  true,
];

export const createOrganization: Operation<
  Record<string, never>,
  Record<string, never>,
  { name: string },
  Organization
> = ['POST', '/orgs', true];

export const listOrganizations: Operation<
  Record<string, never>,
  { limit?: number; cursor?: string },
  undefined,
  { organizations: Organization[]; cursor: string | null }
> = ['GET', '/orgs', true];

export const getOrganization: Operation<{ orgId: string }, Record<string, never>, undefined, Organization> = [
  'GET',
  '/orgs/{orgId}',
  true,
];

export const listMembers: Operation<
  { orgId: string },
  { limit?: number; cursor?: string },
  undefined,
  {
    members: {
      userId: string;
      email: string;
      email_verified: boolean;
      name: string;
      picture?: string;
      role: 'owner' | 'admin' | 'member';
      joined_at: string;
      state: 'here' | 'away';
    }[];
    count: number;
    cursor: string | null;
  }
> = ['GET', '/orgs/{orgId}/members', true];

export const addMember: Operation<
  { orgId: string },
  Record<string, never>,
  { email: string; role: 'owner' | 'admin' | 'member' },
  { member?: Member; invitation?: Invitation; link?: string }
> = ['POST', '/orgs/{orgId}/members', true];

export const changeRole: Operation<
  { orgId: string; userId: string },
  Record<string, never>,
  { role: 'owner' | 'admin' | 'member' },
  { member: Member }
> = ['PATCH', '/orgs/{orgId}/members/{userId}', true];

export const removeMember: Operation<
  { orgId: string; userId: string },
  { keep_keys?: 'true' | 'false' },
  undefined,
  {
    userId: string;
    removed: true;
    revoked_keys: { key_id: string; name: string; token_prefix: string }[];
    kept_keys: { key_id: string; name: string; token_prefix: string }[];
  }
> = ['DELETE', '/orgs/{orgId}/members/{userId}', true];

export const inviteMember: Operation<
  { orgId: string },
  Record<string, never>,
  { email: string; role: 'owner' | 'admin' | 'member' },
  { invitation: Invitation; link?: string }
> = ['POST', '/orgs/{orgId}/invitations', true];

export const listInvitations: Operation<
  { orgId: string },
  { limit?: number; cursor?: string },
  undefined,
  { invitations: Invitation[]; cursor: string | null }
> = ['GET', '/orgs/{orgId}/invitations', true];

export const revokeInvitation: Operation<
  { orgId: string; invitationId: string },
  Record<string, never>,
  undefined,
  { invitation: Invitation }
> = ['DELETE', '/orgs/{orgId}/invitations/{invitationId}', true];

export const seeInvitation: Operation<
  Record<string, never>,
  Record<string, never>,
  { token: string },
  { org_name: string; email: string; role: 'owner' | 'admin' | 'member'; invited_by_name: string; expires_at: string }
> = ['POST', '/auth/invitations/see', true];

export const acceptInvitation: Operation<
  Record<string, never>,
  Record<string, never>,
  { token: string },
  { organization: Membership }
> = ['POST', '/auth/invitations/accept', true];

export const registerInvited: Operation<
  Record<string, never>,
  Record<string, never>,
  { token: string; name: string; password: string },
  { token: string; expires_at: string; user: User; organizations: Membership[] }
> = ['POST', '/auth/invitations/register', true];

export const getHours: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { hours: Hours | null; open: boolean; next_opening: string | null }
> = ['GET', '/orgs/{orgId}/hours', true];

export const setHours: Operation<
  { orgId: string },
  Record<string, never>,
  { hours: Hours | null },
  { hours: Hours | null; open: boolean; next_opening: string | null }
> = ['PUT', '/orgs/{orgId}/hours', true];

export const seeGoLive: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  {
    org_id: string;
    environment: 'sandbox' | 'production';
    live: { documents: number; pages: number; tools: number; settings: number };
    test: { documents: number; pages: number };
    copy: {
      status: 'running' | 'finished';
      requested_at: string;
      finished_at: string | null;
      documents: number | null;
      pages: number | null;
      left_out: { id: string; reason: string }[];
    } | null;
  }
> = ['GET', '/orgs/{orgId}/go-live', true];

export const goLive: Operation<
  { orgId: string },
  Record<string, never>,
  { copy_from_test?: boolean },
  {
    org_id: string;
    environment: 'sandbox' | 'production';
    live: { documents: number; pages: number; tools: number; settings: number };
    test: { documents: number; pages: number };
    copy: {
      status: 'running' | 'finished';
      requested_at: string;
      finished_at: string | null;
      documents: number | null;
      pages: number | null;
      left_out: { id: string; reason: string }[];
    } | null;
  }
> = ['POST', '/orgs/{orgId}/go-live', true];

export const listPublishableKeys: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { test: { key: string; created_at: string }; live: { key: string; created_at: string } }
> = ['GET', '/support/developer-keys/orgs/{orgId}/publishable-keys', true];

export const rotatePublishableKey: Operation<
  { orgId: string; mode: 'test' | 'live' },
  Record<string, never>,
  undefined,
  { mode: 'test' | 'live'; key: string }
> = ['POST', '/support/developer-keys/orgs/{orgId}/publishable-keys/{mode}/rotate', true];

export const listKeys: Operation<
  { orgId: string },
  { limit?: number; cursor?: string },
  undefined,
  { keys: Key[]; cursor: string | null }
> = ['GET', '/support/developer-keys/orgs/{orgId}/keys', true];

export const createKey: Operation<
  { orgId: string },
  Record<string, never>,
  {
    name: string;
    scopes?: ('mcp:read' | 'mcp:write' | 'support:read' | 'support:write' | 'sessions:mint')[];
    mode?: 'test' | 'live';
    expires_at?: string | null;
  },
  { key: Key; token: string }
> = ['POST', '/support/developer-keys/orgs/{orgId}/keys', true];

export const updateKey: Operation<
  { orgId: string; keyId: string },
  Record<string, never>,
  {
    name?: string;
    scopes?: ('mcp:read' | 'mcp:write' | 'support:read' | 'support:write' | 'sessions:mint')[];
    expires_at?: string | null;
  },
  { key: Key }
> = ['PATCH', '/support/developer-keys/orgs/{orgId}/keys/{keyId}', true];

export const revokeKey: Operation<{ orgId: string; keyId: string }, Record<string, never>, undefined, { key: Key }> = [
  'DELETE',
  '/support/developer-keys/orgs/{orgId}/keys/{keyId}',
  true,
];

export const rotateKey: Operation<
  { orgId: string; keyId: string },
  Record<string, never>,
  { overlap_seconds?: number },
  { key: Key; token: string }
> = ['POST', '/support/developer-keys/orgs/{orgId}/keys/{keyId}/rotate', true];

export const uploadDocument: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  FormData,
  { document: Document; duplicate?: true; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/documents'];

export const listDocuments: Operation<
  { orgId: string },
  { limit?: number; cursor?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { documents: Document[]; count: number; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/documents'];

export const getDocument: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/documents/{docId}'];

export const deleteDocument: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { doc_id: string; deleted: true; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/orgs/{orgId}/documents/{docId}'];

export const setDocumentSegments: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { segments: string[] },
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/segments'];

export const setDocumentAuthority: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { authority: 'primary' | 'normal' | 'background' },
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/authority'];

export const setDocumentSource: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { title: string | null; public_url: string | null },
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/documents/{docId}/source'];

export const reprocessDocument: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/documents/{docId}/reprocess'];

export const writeArticle: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  {
    name: string;
    text: string;
    segments?: string[];
    authority?: 'primary' | 'normal' | 'background';
    gap_ids?: string[];
  },
  { document: Document; duplicate?: true; resolved: number; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/documents/text'];

export const getDocumentText: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { doc_id: string; name: string; text: string; sha256: string; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/documents/{docId}/text'];

export const changeDocumentText: Operation<
  { orgId: string; docId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { name?: string; text: string; based_on: string },
  { document: Document; mode?: 'test' | 'live'; warning?: Warning }
> = ['PUT', '/orgs/{orgId}/documents/{docId}/text'];

export const startCrawl: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  {
    url: string;
    options?: {
      max_pages?: number;
      segments?: string[];
      authority?: 'primary' | 'normal' | 'background';
      replace?: boolean;
      every_hours?: number;
    };
  },
  { crawl_id: string; status: CrawlStatus; schedule?: CrawlSchedule; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/crawl'];

export const getCrawlStatus: Operation<
  { orgId: string },
  { crawl_id?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  {
    status: CrawlStatus;
    crawl_id: string | null;
    url: string | null;
    source: 'live' | 'last_run';
    pages_found: number;
    pages_processed: number;
    pages_unchanged: number;
    pages_skipped: number;
    pages_failed: number;
    pages_to_embed: number;
    problems: { url: string; reason: string }[];
    problem_counts: { code: string; count: number }[];
    started_at: string | null;
    completed_at: string | null;
    error?: string;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/orgs/{orgId}/crawl/status'];

export const cancelCrawl: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { crawl_id: string; status: CrawlStatus; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/crawl/cancel'];

export const listCrawlSchedules: Operation<
  { orgId: string },
  { limit?: number; cursor?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { schedules: CrawlSchedule[]; count: number; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/crawl/schedules'];

export const deleteCrawlSchedule: Operation<
  { orgId: string; scheduleId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { schedule_id: string; deleted: true; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/orgs/{orgId}/crawl/schedules/{scheduleId}'];

export const queryKnowledge: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  {
    query: string;
    context?: { productType?: string };
    segments?: string[];
    conversation_history?: { role: 'customer' | 'ai' | 'agent' | 'system'; body: string }[];
    explain?: boolean;
  },
  {
    answer: string;
    sources: { type: 'document' | 'website'; id: string; name: string; title?: string; url?: string; score: number }[];
    has_context: boolean;
    confidence?: 'high' | 'low';
    offers?: Offer[];
    generated_by: 'extractive' | 'model';
    degraded: boolean;
    explain?: {
      mode: 'test' | 'live';
      searched: string;
      terms: { stem: string; weight: number }[];
      filter: { tags: string[]; untagged: boolean } | null;
      strict: boolean;
      tier: 'primary' | 'normal' | 'background' | null;
      degraded: boolean;
      confidence: 'high' | 'low' | 'none';
      offers: string[];
      model_error: string | null;
      thresholds: { answer: number; offer: number } | null;
      candidates: {
        chunk_id: string;
        source_id: string;
        name: string;
        heading: string;
        text: string;
        authority: 'primary' | 'normal' | 'background';
        segments: string[];
        text_score: number | null;
        cosines: number[] | null;
        features: { above: number; share: number; foreign: number } | null;
        coverage: number;
        strength: number;
        score: number;
        relevant: boolean;
      }[];
    };
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['POST', '/orgs/{orgId}/kb/query'];

export const listGaps: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    status?: 'open' | 'acknowledged' | 'resolved';
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  { gaps: Gap[]; count: number; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/kb/gaps'];

export const setGapStatus: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { gap_ids: string[]; status: 'open' | 'acknowledged' | 'resolved' },
  { updated: number; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/kb/gaps'];

export const listPages: Operation<
  { orgId: string },
  { limit?: number; cursor?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { entries: Page[]; count: number; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/orgs/{orgId}/knowledge-base'];

export const setPageSegments: Operation<
  { orgId: string; pageId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { segments: string[] },
  { page: Page; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/knowledge-base/{pageId}/segments'];

export const setPageAuthority: Operation<
  { orgId: string; pageId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { authority: 'primary' | 'normal' | 'background' },
  { page: Page; mode?: 'test' | 'live'; warning?: Warning }
> = ['PATCH', '/orgs/{orgId}/knowledge-base/{pageId}/authority'];

export const deletePage: Operation<
  { orgId: string; pageId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { page_id: string; deleted: true; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/orgs/{orgId}/knowledge-base/{pageId}'];

export const pruneKnowledge: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { apply?: boolean },
  { orphaned: Orphan[]; live: number; deleted: number; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/orgs/{orgId}/knowledge-base/prune'];

export const getToolServer: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { server: ToolServer | null; authorization_url?: string; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/support/mcp/orgs/{orgId}/server'];

export const putToolServer: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  {
    server_label?: string;
    endpoint_url?: string;
    auth_type?: 'none' | 'bearer' | 'oauth2';
    access_token?: string | null;
    oauth?: {
      grant_type?: 'client_credentials' | 'authorization_code';
      token_url?: string;
      client_id?: string;
      scopes?: string[];
      client_secret?: string;
    } | null;
    protocol_version?: string | null;
    environment?: 'sandbox' | 'production';
    enabled?: boolean;
    rate_limit_per_min?: number;
    approved_tools?: {
      source_name: string;
      tool_name?: string;
      description?: string;
      input_schema?: Record<string, unknown>;
      output_schema?: Record<string, unknown>;
      kind?: 'action' | 'resource';
      risk_tier?:
        'read_public' | 'read_private' | 'safe_write' | 'customer_confirm' | 'step_up' | 'admin_approve' | 'human_only';
      auth_scope?: 'public' | 'verified_visitor' | 'verified_customer';
      enabled?: boolean;
      timeout_ms?: number;
      allowed_channels?: ('chat' | 'email')[];
      rate_limit_per_min?: number;
      risk?:
        'read_public' | 'read_private' | 'safe_write' | 'customer_confirm' | 'step_up' | 'admin_approve' | 'human_only';
      suspended?: boolean;
      problem?: string;
      notes?: string[];
    }[];
  },
  { server: ToolServer | null; authorization_url?: string; mode?: 'test' | 'live'; warning?: Warning }
> = ['PUT', '/support/mcp/orgs/{orgId}/server'];

export const deleteToolServer: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { server: ToolServer | null; authorization_url?: string; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/support/mcp/orgs/{orgId}/server'];

export const discoverTools: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  {
    tools: {
      source_name: string;
      description: string;
      input_schema: Record<string, unknown>;
      output_schema?: Record<string, unknown>;
      problem?: string;
      notes?: string[];
      suggested_tool_name: string;
      status: 'approved' | 'new' | 'changed' | 'removed';
      changed_since_approval: boolean;
      diff?: { field: string; change: 'added' | 'removed' | 'changed'; before?: unknown; after?: unknown }[];
    }[];
    discovered_at: string;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['POST', '/support/mcp/orgs/{orgId}/discover'];

export const listToolAudit: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    tool?: string;
    outcome?:
      'ok' | 'error' | 'timeout' | 'denied' | 'declined' | 'expired' | 'suspended' | 'handed_off' | 'rate_limited';
    conversation_id?: string;
    from?: string;
    to?: string;
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  {
    events: {
      id: string;
      ts: string;
      mode: 'test' | 'live';
      kind: 'config' | 'discovery' | 'invocation' | 'approval';
      actor: string;
      action: string;
      tool: string | null;
      conversation_id: string | null;
      auth_scope: 'public' | 'verified_visitor' | 'verified_customer' | null;
      risk_tier:
        | 'read_public'
        | 'read_private'
        | 'safe_write'
        | 'customer_confirm'
        | 'step_up'
        | 'admin_approve'
        | 'human_only'
        | null;
      outcome:
        | 'ok'
        | 'error'
        | 'timeout'
        | 'denied'
        | 'declined'
        | 'expired'
        | 'suspended'
        | 'handed_off'
        | 'rate_limited'
        | null;
      duration_ms: number | null;
      arguments_sha256: string | null;
    }[];
    next_cursor: string | null;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/mcp/orgs/{orgId}/audit'];

export const verifyToolAudit: Operation<
  { orgId: string },
  { whole?: 'true' | 'false'; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  {
    intact: boolean;
    checked: number;
    read: number;
    first_broken?: { seq: number; reason: 'missing' | 'altered' | 'unlinked' | 'unsigned' };
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/mcp/orgs/{orgId}/audit/verify'];

export const listToolApprovals: Operation<
  { orgId: string },
  { limit?: number; cursor?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { approvals: ToolApproval[]; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/support/mcp/orgs/{orgId}/approvals'];

export const approveToolCall: Operation<
  { orgId: string; approvalId: string },
  Record<string, never>,
  Record<string, unknown>,
  { id: string; decision: 'approved' | 'denied' }
> = ['POST', '/support/mcp/orgs/{orgId}/approvals/{approvalId}/approve', true];

export const denyToolCall: Operation<
  { orgId: string; approvalId: string },
  Record<string, never>,
  Record<string, unknown>,
  { id: string; decision: 'approved' | 'denied' }
> = ['POST', '/support/mcp/orgs/{orgId}/approvals/{approvalId}/deny', true];

export const getSupportConfig: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  {
    org_id: string;
    environment: 'sandbox' | 'production';
    kb_segment_strict: boolean;
    outbox_providers: ('slack' | 'linear' | 'webhook')[];
    outbox_webhook_url: string | null;
    has_outbox_webhook_secret: boolean;
    allowed_origins: string[];
    updated_at: string | null;
    config: SupportConfig;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/config/orgs/{orgId}'];

export const updateSupportConfig: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  {
    environment?: 'sandbox' | 'production';
    kb_segment_strict?: boolean;
    outbox_providers?: ('slack' | 'linear' | 'webhook')[];
    outbox_webhook_url?: string | null;
    outbox_webhook_secret?: string | null;
    allowed_origins?: string[];
  },
  {
    org_id: string;
    environment: 'sandbox' | 'production';
    kb_segment_strict: boolean;
    outbox_providers: ('slack' | 'linear' | 'webhook')[];
    outbox_webhook_url: string | null;
    has_outbox_webhook_secret: boolean;
    allowed_origins: string[];
    updated_at: string | null;
    config: SupportConfig;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['PUT', '/support/config/orgs/{orgId}'];

export const getWidget: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  {
    org_id: string;
    accent: string | null;
    agent_name: string | null;
    greetings: {
      en?: { greeting?: string; starters?: string[] };
      de?: { greeting?: string; starters?: string[] };
      fr?: { greeting?: string; starters?: string[] };
      es?: { greeting?: string; starters?: string[] };
      ar?: { greeting?: string; starters?: string[] };
    };
    ask_email: 'never' | 'on_escalation' | 'first';
    outside: 'show' | 'hide';
    logo_url: string | null;
    avatar_url: string | null;
  }
> = ['GET', '/support/widget/orgs/{orgId}', true];

export const setWidget: Operation<
  { orgId: string },
  Record<string, never>,
  {
    accent?: string | null;
    agent_name?: string | null;
    greetings?: {
      en?: { greeting?: string; starters?: string[] };
      de?: { greeting?: string; starters?: string[] };
      fr?: { greeting?: string; starters?: string[] };
      es?: { greeting?: string; starters?: string[] };
      ar?: { greeting?: string; starters?: string[] };
    };
    ask_email?: 'never' | 'on_escalation' | 'first';
    outside?: 'show' | 'hide';
  },
  {
    org_id: string;
    accent: string | null;
    agent_name: string | null;
    greetings: {
      en?: { greeting?: string; starters?: string[] };
      de?: { greeting?: string; starters?: string[] };
      fr?: { greeting?: string; starters?: string[] };
      es?: { greeting?: string; starters?: string[] };
      ar?: { greeting?: string; starters?: string[] };
    };
    ask_email: 'never' | 'on_escalation' | 'first';
    outside: 'show' | 'hide';
    logo_url: string | null;
    avatar_url: string | null;
  }
> = ['PUT', '/support/widget/orgs/{orgId}', true];

export const setWidgetPicture: Operation<
  { orgId: string; picture: string },
  Record<string, never>,
  FormData,
  {
    org_id: string;
    accent: string | null;
    agent_name: string | null;
    greetings: {
      en?: { greeting?: string; starters?: string[] };
      de?: { greeting?: string; starters?: string[] };
      fr?: { greeting?: string; starters?: string[] };
      es?: { greeting?: string; starters?: string[] };
      ar?: { greeting?: string; starters?: string[] };
    };
    ask_email: 'never' | 'on_escalation' | 'first';
    outside: 'show' | 'hide';
    logo_url: string | null;
    avatar_url: string | null;
  }
> = ['PUT', '/support/widget/orgs/{orgId}/{picture}', true];

export const removeWidgetPicture: Operation<
  { orgId: string; picture: string },
  Record<string, never>,
  undefined,
  {
    org_id: string;
    accent: string | null;
    agent_name: string | null;
    greetings: {
      en?: { greeting?: string; starters?: string[] };
      de?: { greeting?: string; starters?: string[] };
      fr?: { greeting?: string; starters?: string[] };
      es?: { greeting?: string; starters?: string[] };
      ar?: { greeting?: string; starters?: string[] };
    };
    ask_email: 'never' | 'on_escalation' | 'first';
    outside: 'show' | 'hide';
    logo_url: string | null;
    avatar_url: string | null;
  }
> = ['DELETE', '/support/widget/orgs/{orgId}/{picture}', true];

export const revokeSession: Operation<
  { orgId: string; sessionId: string },
  Record<string, never>,
  undefined,
  { session_id: string; status: 'revoked' }
> = ['POST', '/support/sessions/orgs/{orgId}/{sessionId}/revoke', true];

export const getEmbedSecret: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { mode: 'test' | 'live'; exists: boolean; created_at: string | null; former_until: string | null; warning?: Warning }
> = ['GET', '/support/sessions/orgs/{orgId}/embed-secret'];

export const replaceEmbedSecret: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { overlap_seconds?: number },
  { mode: 'test' | 'live'; embed_secret: string; created_at: string; warning?: Warning }
> = ['POST', '/support/sessions/orgs/{orgId}/embed-secret'];

export const listInbox: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    status?: 'open' | 'pending' | 'escalated' | 'resolved';
    assigned_to?: string;
    tag?: string;
    priority?: 'low' | 'medium' | 'high' | 'urgent';
    customer_id?: string;
    unread?: 'true';
    from?: string;
    until?: string;
    snoozed?: 'true' | 'false';
    sort?: 'newest' | 'waiting';
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  {
    conversations: InboxConversation[];
    count: number;
    unread: number;
    cursor: string | null;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/inbox/orgs/{orgId}'];

export const getConversation: Operation<
  { orgId: string; convId: string },
  { limit?: number; cursor?: string; mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  {
    conversation: InboxConversation;
    messages: InboxMessage[];
    cursor: string | null;
    context: { session: Record<string, unknown>; page: Record<string, unknown> };
    events: {
      event_id: string;
      seq: number;
      type: 'ticket.created' | 'ticket.escalated' | 'ticket.resolved';
      ticket_status: 'open' | 'in_progress' | 'pending' | 'escalated' | 'resolved' | 'closed';
      at: string;
    }[];
    notes: Note[];
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/inbox/orgs/{orgId}/{convId}'];

export const replyToConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { body: string; client_message_id?: string; sender_name?: string },
  { message_id: string; duplicate?: true; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/reply'];

export const suggestReply: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  {
    suggestion: {
      body: string;
      sources: {
        type: 'document' | 'website';
        id: string;
        name: string;
        title?: string;
        url?: string;
        score: number;
      }[];
      confidence: 'high' | 'low';
      record: Record<string, unknown>;
      based_on: string;
    } | null;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/suggest'];

export const assignConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { user_id: string | null },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/assign'];

export const resolveConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/resolve'];

export const escalateConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { reason?: string },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/escalate'];

export const reopenConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/reopen'];

export const setConversationTags: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { tags: string[] },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['PUT', '/support/inbox/orgs/{orgId}/{convId}/tags'];

export const setConversationPriority: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { priority: 'low' | 'medium' | 'high' | 'urgent' | null },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['PUT', '/support/inbox/orgs/{orgId}/{convId}/priority'];

export const snoozeConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { until: string },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/snooze'];

export const unsnoozeConversation: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/support/inbox/orgs/{orgId}/{convId}/snooze'];

export const markConversationRead: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { position: number },
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['PUT', '/support/inbox/orgs/{orgId}/{convId}/read'];

export const markConversationUnread: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/support/inbox/orgs/{orgId}/{convId}/read'];

export const addNote: Operation<
  { orgId: string; convId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { body: string; mentions?: string[] },
  { note: Note; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/inbox/orgs/{orgId}/{convId}/notes'];

export const removeNote: Operation<
  { orgId: string; convId: string; noteId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { conversation: InboxConversation; mode?: 'test' | 'live'; warning?: Warning }
> = ['DELETE', '/support/inbox/orgs/{orgId}/{convId}/notes/{noteId}'];

export const listCannedReplies: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { replies: CannedReply[] }
> = ['GET', '/support/replies/orgs/{orgId}', true];

export const createCannedReply: Operation<
  { orgId: string },
  Record<string, never>,
  { shortcut: string; body: string; shared?: boolean },
  { reply: CannedReply }
> = ['POST', '/support/replies/orgs/{orgId}', true];

export const changeCannedReply: Operation<
  { orgId: string; replyId: string },
  Record<string, never>,
  { shortcut?: string; body?: string; shared?: boolean },
  { reply: CannedReply }
> = ['PATCH', '/support/replies/orgs/{orgId}/{replyId}', true];

export const removeCannedReply: Operation<
  { orgId: string; replyId: string },
  Record<string, never>,
  undefined,
  { reply_id: string; removed: true }
> = ['DELETE', '/support/replies/orgs/{orgId}/{replyId}', true];

export const openLive: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { ws_url: string; expires_at: string }
> = ['POST', '/support/live/orgs/{orgId}', true];

export const searchInbox: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    q: string;
    from?: string;
    until?: string;
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  {
    hits: {
      conv_id: string;
      in: 'message' | 'note' | 'customer';
      message_id: string | null;
      at: string;
      excerpt: string;
      marks: number[][];
    }[];
    cursor: string | null;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/search/orgs/{orgId}'];

export const getStatistics: Operation<
  { orgId: string },
  {
    from?: string;
    until?: string;
    by?: 'day' | 'member' | 'tag';
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  {
    from: string;
    until: string;
    total: {
      conversations: number;
      escalated: number;
      deflected: number;
      resolved: number;
      reopened: number;
      first_response_seconds: { median: number | null; p90: number | null };
      resolution_seconds: { median: number | null; p90: number | null };
      within_hours: {
        first_response_seconds: { median: number | null; p90: number | null };
        resolution_seconds: { median: number | null; p90: number | null };
      } | null;
      csat: { count: number; average: number | null };
    };
    groups: {
      group: string;
      conversations: number;
      escalated: number;
      deflected: number;
      resolved: number;
      reopened: number;
      first_response_seconds: { median: number | null; p90: number | null };
      resolution_seconds: { median: number | null; p90: number | null };
      within_hours: {
        first_response_seconds: { median: number | null; p90: number | null };
        resolution_seconds: { median: number | null; p90: number | null };
      } | null;
      csat: { count: number; average: number | null };
    }[];
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/stats/orgs/{orgId}'];

export const listTeamTags: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { tags: { name: string; colour: 'grey' | 'red' | 'orange' | 'green' | 'blue' | 'purple' }[] }
> = ['GET', '/orgs/{orgId}/tags', true];

export const setTeamTags: Operation<
  { orgId: string },
  Record<string, never>,
  { tags: { name: string; colour: 'grey' | 'red' | 'orange' | 'green' | 'blue' | 'purple' }[] },
  { tags: { name: string; colour: 'grey' | 'red' | 'orange' | 'green' | 'blue' | 'purple' }[] }
> = ['PUT', '/orgs/{orgId}/tags', true];

export const listDeliveries: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    status?: 'pending' | 'delivered' | 'retrying' | 'failed' | 'suppressed';
    kind?: 'webhook' | 'slack' | 'linear' | 'github' | 'email' | 'notification';
    event_type?: string;
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  {
    deliveries: Delivery[];
    destinations: Destination[];
    cursor: string | null;
    mode?: 'test' | 'live';
    warning?: Warning;
  }
> = ['GET', '/support/outbox/orgs/{orgId}/deliveries'];

export const getDelivery: Operation<
  { orgId: string; deliveryId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  undefined,
  { delivery: Delivery; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/support/outbox/orgs/{orgId}/deliveries/{deliveryId}'];

export const redeliver: Operation<
  { orgId: string; deliveryId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { delivery: Delivery; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/outbox/orgs/{orgId}/deliveries/{deliveryId}/redeliver'];

export const recoverDeliveries: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  { since: string },
  { recovered: number; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/outbox/orgs/{orgId}/recover'];

export const sendTestEvent: Operation<
  { orgId: string },
  { mode?: 'test' | 'live'; environment?: 'test' | 'live' },
  Record<string, unknown>,
  { delivery: Delivery; mode?: 'test' | 'live'; warning?: Warning }
> = ['POST', '/support/outbox/orgs/{orgId}/test'];

export const exportCustomer: Operation<
  { orgId: string; customerId: string },
  { limit?: number; cursor?: string },
  undefined,
  {
    customer: {
      customer_id: string;
      org_id: string;
      mode: 'test' | 'live';
      external_id?: string;
      email?: string;
      contact_email?: string;
      name?: string;
      visitor_id?: string;
      verified: boolean;
      created_at: string;
      last_seen_at: string;
    };
    sessions: {
      session_id: string;
      kind: 'minted' | 'embed';
      verified: boolean;
      product_type?: string;
      context: Record<string, unknown>;
      visitor_id?: string;
      created_by: string;
      created_at: string;
      expires_at: string;
      revoked_at: string | null;
    }[];
    gaps: {
      gap_id: string;
      question: string;
      count: number;
      why_missing: 'nothing_found' | 'not_relevant' | 'out_of_segment';
    }[];
    conversations: {
      conv_id: string;
      org_id: string;
      mode: 'test' | 'live';
      status: 'open' | 'pending' | 'escalated' | 'resolved';
      customer: { customer_id: string; name?: string; email?: string; contact_email?: string; verified: boolean };
      preview: string;
      last_message_at: string | null;
      unread: number;
      position: number;
      read_position: number | null;
      assigned_to: string | null;
      ticket: Ticket | null;
      csat: number | null;
      tags: string[];
      priority: 'low' | 'medium' | 'high' | 'urgent' | null;
      snoozed: { until: string | null; by: string } | null;
      waiting_since: string | null;
      note_count: number;
      created_at: string;
      updated_at: string;
      refinement?: Record<string, unknown>;
      session_context?: { session_id: string; context: Record<string, unknown> };
      events: {
        event_id: string;
        seq: number;
        type: 'ticket.created' | 'ticket.escalated' | 'ticket.resolved';
        ticket_status: 'open' | 'in_progress' | 'pending' | 'escalated' | 'resolved' | 'closed';
        at: string;
      }[];
      notes: Note[];
    }[];
    messages: {
      id: string;
      role: 'customer' | 'ai' | 'agent' | 'system';
      body: string;
      timestamp: string;
      client_message_id?: string;
      sources?: {
        type: 'document' | 'website';
        id: string;
        name: string;
        title?: string;
        url?: string;
        score: number;
      }[];
      has_context?: boolean;
      confidence?: 'high' | 'low';
      offers?: Offer[];
      sender_name?: string;
      sender_id?: string;
      record?: Record<string, unknown>;
      mail?: {
        subject: string;
        full_text?: string;
        attachments: { filename: string; mime_type: string; bytes: number }[];
      };
      conv_id: string;
    }[];
    cursor: string | null;
  }
> = ['GET', '/support/customers/orgs/{orgId}/{customerId}', true];

export const eraseCustomer: Operation<
  { orgId: string; customerId: string },
  Record<string, never>,
  undefined,
  {
    customer_id: string;
    status: 'erasing' | 'erased' | 'verified';
    found: { conversations: number; messages: number; frames: number; sessions: number; gaps: number };
    requested_by: string;
    requested_at: string;
    erased_at: string | null;
    verified_at: string | null;
  }
> = ['DELETE', '/support/customers/orgs/{orgId}/{customerId}', true];

export const createMeeting: Operation<
  Record<string, never>,
  Record<string, never>,
  {
    title?: string;
    ttl_days?: number;
    started_at?: string;
    settings?: {
      personality?: 'supportive' | 'challenger' | 'facilitator' | 'analyst';
      participation_level?: 'low' | 'medium' | 'high';
      wake_word_enabled?: boolean;
      proactive_suggest?: boolean;
      timezone?: string;
    };
    org_id?: string;
  },
  Meeting
> = ['POST', '/meetings', true];

export const listMeetings: Operation<
  Record<string, never>,
  { limit?: number; cursor?: string },
  undefined,
  { meetings: MeetingItem[]; cursor: string | null }
> = ['GET', '/meetings', true];

export const getMeeting: Operation<{ id: string }, Record<string, never>, undefined, Meeting> = [
  'GET',
  '/meetings/{id}',
  true,
];

export const renameMeeting: Operation<{ id: string }, Record<string, never>, { title: string }, Meeting> = [
  'PATCH',
  '/meetings/{id}',
  true,
];

export const deleteMeeting: Operation<
  { id: string },
  Record<string, never>,
  undefined,
  { meeting_id: string; deleted: true }
> = ['DELETE', '/meetings/{id}', true];

export const updateMeetingSettings: Operation<
  { id: string },
  Record<string, never>,
  {
    personality?: 'supportive' | 'challenger' | 'facilitator' | 'analyst';
    participation_level?: 'low' | 'medium' | 'high';
    wake_word_enabled?: boolean;
    proactive_suggest?: boolean;
    timezone?: string;
  },
  Meeting
> = ['PUT', '/meetings/{id}/settings', true];

export const addTranscript: Operation<
  { id: string },
  Record<string, never>,
  { segments: { id: string; speaker: string; text: string; timestamp: string; is_ai?: boolean }[] },
  { meeting_id: string; accepted: number; segment_count: number }
> = ['POST', '/meetings/{id}/transcript', true];

export const endMeeting: Operation<{ id: string }, Record<string, never>, undefined, Meeting> = [
  'POST',
  '/meetings/{id}/end',
  true,
];

export const summarizeMeeting: Operation<
  { id: string },
  { mode?: 'short' | 'long'; regenerate?: 'true' | 'false' },
  undefined,
  MeetingSummary
> = ['GET', '/meetings/{id}/summary', true];

export const listNotifications: Operation<
  Record<string, never>,
  { limit?: number; cursor?: string; unread?: 'true' | 'false' },
  undefined,
  { notifications: Notification[]; unread_count: number; cursor: string | null }
> = ['GET', '/me/notifications', true];

export const readNotification: Operation<
  { notifId: string },
  Record<string, never>,
  undefined,
  { notification: Notification }
> = ['PUT', '/me/notifications/{notifId}/read', true];

export const getNotices: Operation<Record<string, never>, Record<string, never>, undefined, Notices> = [
  'GET',
  '/me/notices',
  true,
];

export const setNotices: Operation<
  Record<string, never>,
  Record<string, never>,
  {
    browser?: boolean;
    sound?: boolean;
    mail?: boolean;
    mail_after_minutes?: number;
    quiet_hours?: { from: string; until: string; timezone: string } | null;
  },
  Notices
> = ['PUT', '/me/notices', true];

export const setAvailability: Operation<
  Record<string, never>,
  Record<string, never>,
  { org_id: string; state: 'here' | 'away' },
  { org_id: string; state: 'here' | 'away' }
> = ['PUT', '/me/availability', true];

export const getOrgWebhooks: Operation<{ orgId: string }, Record<string, never>, undefined, OrgWebhooks> = [
  'GET',
  '/orgs/{orgId}/webhooks',
  true,
];

export const setOrgWebhooks: Operation<
  { orgId: string },
  Record<string, never>,
  {
    slack_webhook_url?: string | null;
    email_notifications?: boolean;
    notify_on?: (
      | 'task_created'
      | 'task_assigned'
      | 'task_updated'
      | 'task_completed'
      | 'task_executed'
      | 'meeting_ended'
      | 'summary_ready'
      | 'conversation_escalated'
      | 'conversation_assigned'
      | 'customer_replied'
      | 'mentioned'
      | 'snooze_over'
      | 'approval_waiting'
      | 'delivery_failed'
    )[];
  },
  OrgWebhooks
> = ['PUT', '/orgs/{orgId}/webhooks', true];

export const stopMails: Operation<
  { token: string },
  Record<string, never>,
  Blob,
  { stopped: 'organization' | 'all' }
> = ['POST', '/mail/objections/{token}', true];

export const listIntegrations: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { integrations: Integration[] }
> = ['GET', '/orgs/{orgId}/integrations', true];

export const connectLinear: Operation<
  { orgId: string },
  Record<string, never>,
  { api_key: string; team_id: string; webhook_secret?: string },
  { integration: Integration }
> = ['PUT', '/orgs/{orgId}/integrations/linear', true];

export const connectGithub: Operation<
  { orgId: string },
  Record<string, never>,
  { token: string; repository: string; webhook_secret?: string },
  { integration: Integration }
> = ['PUT', '/orgs/{orgId}/integrations/github', true];

export const connectSlack: Operation<
  { orgId: string },
  Record<string, never>,
  { channel_id?: string },
  { integration: Integration; authorization_url?: string }
> = ['PUT', '/orgs/{orgId}/integrations/slack', true];

export const connectEmail: Operation<
  { orgId: string },
  Record<string, never>,
  { smtp_url: string; from: string },
  { integration: Integration }
> = ['PUT', '/orgs/{orgId}/integrations/email', true];

export const connectTeams: Operation<
  { orgId: string },
  Record<string, never>,
  undefined,
  { integration: Integration; connect_code: string; expires_at: string }
> = ['PUT', '/orgs/{orgId}/integrations/teams', true];

export const disconnectIntegration: Operation<
  { orgId: string; provider: 'linear' | 'slack' | 'github' | 'email' | 'teams' },
  Record<string, never>,
  undefined,
  { integration: Integration }
> = ['DELETE', '/orgs/{orgId}/integrations/{provider}', true];

export const testIntegration: Operation<
  { orgId: string; provider: 'linear' | 'slack' | 'github' | 'email' | 'teams' },
  Record<string, never>,
  undefined,
  { ok: true; message: string }
> = ['POST', '/orgs/{orgId}/integrations/{provider}/test', true];

export const listInbound: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    provider?: 'linear' | 'github' | 'slack' | 'teams' | 'email';
    status?: 'stored' | 'processed' | 'ignored' | 'failed';
    mode?: 'test' | 'live';
    environment?: 'test' | 'live';
  },
  undefined,
  { inbound: Inbound[]; cursor: string | null; mode?: 'test' | 'live'; warning?: Warning }
> = ['GET', '/support/inbound/orgs/{orgId}'];

export const createInterview: Operation<
  { orgId: string },
  Record<string, never>,
  {
    role_title: string;
    skills?: string[];
    evaluation_criteria?: string[];
    question_count?: number;
    questions?: { category: string; body: string }[];
    questions_signature?: string;
    meeting_url?: string | null;
    scheduled_at?: string | null;
    candidate_email?: string | null;
    candidate_name?: string | null;
    mode?: 'solo' | 'copilot' | 'shadow';
    language?: 'en' | 'de' | 'fr' | 'es';
  },
  Interview
> = ['POST', '/orgs/{orgId}/interviews', true];

export const listInterviews: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    status?: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
  },
  undefined,
  { interviews: InterviewItem[]; cursor: string | null }
> = ['GET', '/orgs/{orgId}/interviews', true];

export const getInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  Interview
> = ['GET', '/orgs/{orgId}/interviews/{interviewId}', true];

export const updateInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  {
    role_title?: string;
    skills?: string[];
    evaluation_criteria?: string[];
    question_count?: number;
    questions?: { category: string; body: string }[];
    questions_signature?: string;
    meeting_url?: string | null;
    scheduled_at?: string | null;
    candidate_email?: string | null;
    candidate_name?: string | null;
    mode?: 'solo' | 'copilot' | 'shadow';
    language?: 'en' | 'de' | 'fr' | 'es';
  },
  Interview
> = ['PUT', '/orgs/{orgId}/interviews/{interviewId}', true];

export const deleteInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  { interview_id: string; deleted: true }
> = ['DELETE', '/orgs/{orgId}/interviews/{interviewId}', true];

export const listRelatedInterviews: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  {
    interviews: {
      interview_id: string;
      org_id: string;
      role_title: string;
      status: 'draft' | 'scheduled' | 'bot_deployed' | 'in_progress' | 'evaluating' | 'completed' | 'cancelled';
      mode: 'solo' | 'copilot' | 'shadow';
      language: 'en' | 'de' | 'fr' | 'es';
      candidate: { name: string | null; email: string | null; resume_parsed: boolean; resume_error?: string };
      scheduled_at: string | null;
      overall_score: number | null;
      decision: {
        decision: 'hire' | 'no_hire' | 'next_round' | 'undecided';
        notes: string | null;
        decided_by: string;
        decided_at: string;
      } | null;
      created_at: string;
      updated_at: string;
      related_by: ('candidate' | 'role')[];
    }[];
  }
> = ['GET', '/orgs/{orgId}/interviews/{interviewId}/related', true];

export const startInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  { meeting_link?: string; candidate_name?: string },
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/start', true];

export const cancelInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  { reason?: string },
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/cancel', true];

export const rejoinInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/rejoin', true];

export const endInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/end', true];

export const evaluateInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/evaluate', true];

export const uploadResume: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  FormData,
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/resume', true];

export const scoreInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  undefined,
  Interview
> = ['POST', '/orgs/{orgId}/interviews/{interviewId}/generate-score', true];

export const decideInterview: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  { decision: 'hire' | 'no_hire' | 'next_round' | 'undecided'; notes?: string },
  Interview
> = ['PUT', '/orgs/{orgId}/interviews/{interviewId}/decision', true];

export const scoreByHand: Operation<
  { orgId: string; interviewId: string },
  Record<string, never>,
  {
    criteria: Record<string, number>;
    notes?: string;
    recommendation?: 'hire' | 'no_hire' | 'next_round' | 'undecided';
  },
  Interview
> = ['PUT', '/orgs/{orgId}/interviews/{interviewId}/scorecard', true];

export const draftInterview: Operation<
  { orgId: string },
  Record<string, never>,
  { prompt: string; timezone?: string },
  { draft: InterviewDraft; assumed: string[]; generated_by: 'extractive' | 'model' }
> = ['POST', '/orgs/{orgId}/interviews/draft', true];

export const generateQuestions: Operation<
  { orgId: string },
  Record<string, never>,
  {
    title: string;
    job_description: string;
    required_skills: string[];
    experience_level: string;
    resume_text?: string;
    language?: 'en' | 'de' | 'fr' | 'es';
    question_count?: number;
    categories?: string[];
  },
  { questions: { category: string; body: string }[]; questions_signature: string; generated_by: 'extractive' | 'model' }
> = ['POST', '/orgs/{orgId}/interviews/generate-questions', true];

export const createTask: Operation<
  { orgId: string },
  Record<string, never>,
  {
    title: string;
    description?: string | null;
    assigned_to?: string | null;
    priority?: 'low' | 'medium' | 'high' | 'urgent';
    task_type?: string | null;
    due_date?: string | null;
    session_id?: string | null;
  },
  Task
> = ['POST', '/orgs/{orgId}/tasks', true];

export const listTasks: Operation<
  { orgId: string },
  {
    limit?: number;
    cursor?: string;
    status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
    assigned_to?: string;
    session_id?: string;
  },
  undefined,
  { tasks: TaskItem[]; count: number; cursor: string | null }
> = ['GET', '/orgs/{orgId}/tasks', true];

export const getTask: Operation<{ orgId: string; taskId: string }, Record<string, never>, undefined, Task> = [
  'GET',
  '/orgs/{orgId}/tasks/{taskId}',
  true,
];

export const updateTask: Operation<
  { orgId: string; taskId: string },
  Record<string, never>,
  {
    title?: string;
    description?: string | null;
    assigned_to?: string | null;
    priority?: 'low' | 'medium' | 'high' | 'urgent';
    task_type?: string | null;
    due_date?: string | null;
    session_id?: string | null;
    status?: 'pending' | 'in_progress' | 'completed' | 'cancelled';
    assignee_email?: string | null;
    email_execution_enabled?: boolean;
  },
  Task
> = ['PUT', '/orgs/{orgId}/tasks/{taskId}', true];

export const deleteTask: Operation<
  { orgId: string; taskId: string },
  Record<string, never>,
  undefined,
  { task_id: string; deleted: true }
> = ['DELETE', '/orgs/{orgId}/tasks/{taskId}', true];

export const reviewTask: Operation<{ orgId: string; taskId: string }, Record<string, never>, undefined, TaskReview> = [
  'POST',
  '/orgs/{orgId}/tasks/{taskId}/lira-review',
  true,
];

export const executeTask: Operation<{ orgId: string; taskId: string }, Record<string, never>, undefined, TaskResult> = [
  'POST',
  '/orgs/{orgId}/tasks/{taskId}/execute',
  true,
];

export const taskResult: Operation<{ orgId: string; taskId: string }, Record<string, never>, undefined, TaskResult> = [
  'GET',
  '/orgs/{orgId}/tasks/{taskId}/result',
  true,
];

export const extractTasks: Operation<
  { sessionId: string },
  Record<string, never>,
  { org_id: string },
  {
    tasks: TaskItem[];
    count: number;
    created: number;
    possible: {
      quote: string;
      speaker: string;
      reason: 'no_owner' | 'suggestion' | 'unresolved' | 'in_meeting' | 'not_accepted' | 'refused' | 'uncertain';
    }[];
    generated_by: 'extractive' | 'model';
  }
> = ['POST', '/meetings/{sessionId}/extract-tasks', true];

export const listMeetingTasks: Operation<
  { sessionId: string },
  { limit?: number; cursor?: string; org_id?: string },
  undefined,
  { tasks: TaskItem[]; count: number; cursor: string | null }
> = ['GET', '/meetings/{sessionId}/tasks', true];
