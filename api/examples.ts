/**
 * Example bodies, by route name. The API reference shows them, and its "Try it out" starts with them. A test sends each
 * example to its route.
 */
const question = 'What does a large safe deposit box cost?';
const time = '2030-01-31T09:30:00Z';
const person = { email: 'grace@example.com', password: 'correct horse battery' };
/** An invented token, as long as a real one. */
const token = 'b3VyLWxpbmtzLWhhdmUtZm9ydHktdGhyZWUtbGV0dGVycw';
const segments = { segments: ['personal', 'business'] };
const authority = { authority: 'primary' };
const role = { role: 'admin' };

export const examples: Readonly<Record<string, unknown>> = {
  register: { ...person, name: 'Grace Example', company: 'Lindenbank' },
  login: person,
  loginBrowser: person,
  setPicture: { picture: 'https://www.example.com/grace.png' },
  forgotPassword: { email: person.email },
  resetPassword: { token, password: 'another correct horse' },
  changeEmail: { email: 'grace@example.org', password: person.password },
  confirmEmail: { token },
  createOrganization: { name: 'Lindenbank' },
  goLive: { copy_from_test: true },
  addMember: { email: 'ada@example.com', ...role },
  changeRole: role,
  inviteMember: { email: 'ada@example.com', role: 'member' },
  seeInvitation: { token },
  acceptInvitation: { token },
  registerInvited: { token, name: 'Ada Example', password: person.password },

  createKey: { name: 'website', scopes: ['support:read', 'sessions:mint'], mode: 'test', expires_at: time },
  updateKey: { name: 'website and app', expires_at: null },
  rotateKey: { overlap_seconds: 3600 },

  uploadDocument: {
    file: '# Opening hours\n\nOur branches open at nine.',
    segments: 'personal,business',
    authority: 'normal',
  },
  setDocumentSegments: segments,
  setDocumentAuthority: authority,
  setDocumentSource: { title: 'Safe deposit boxes', public_url: 'https://www.example.com/safes' },
  startCrawl: { url: 'https://www.example.com/help/', options: { max_pages: 50, segments: ['personal'] } },
  queryKnowledge: { query: question, context: { productType: 'personal' }, explain: true },
  setGapStatus: { gap_ids: ['gap_01M7YGT1Y2M8Q0Z6V3C4K5R7XA'], status: 'acknowledged' },
  setPageSegments: segments,
  setPageAuthority: authority,
  pruneKnowledge: { apply: false },

  putToolServer: {
    server_label: 'Cards',
    endpoint_url: 'https://tools.example.com/mcp',
    auth_type: 'none',
    approved_tools: [
      {
        source_name: 'card_status',
        description: 'Says whether a card is on its way.',
        input_schema: { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] },
        risk_tier: 'read_private',
        auth_scope: 'verified_customer',
      },
    ],
  },

  sendMessage: { body: question, client_message_id: 'm-1' },
  updateSupportConfig: { kb_segment_strict: false, allowed_origins: ['https://www.example.com'] },
  mintSession: {
    customer: { email: 'ada@example.com', name: 'Ada Example', externalCustomerId: '4711' },
    ttlSeconds: 3600,
    context: { productType: 'personal' },
  },
  replaceEmbedSecret: { overlap_seconds: 3600 },

  replyToConversation: { body: 'Hello Ada, this is Grace. How can I help?', client_message_id: 'r-1' },
  assignConversation: { user_id: null },
  writeArticle: { name: 'Safe deposit boxes', text: '# Safe deposit boxes\n\nA small box costs 60 EUR a year.' },
  changeDocumentText: {
    text: '# Safe deposit boxes\n\nA small box costs 65 EUR a year.',
    based_on: 'f8d2d03ae1d0f0ad5b9fbd4ff6a3f7dbbd5a5ac5d2f5a6d5f6a4a7c5e3c1b2a0',
  },
  createCannedReply: { shortcut: 'thanks', body: 'Thank you for your patience.' },
  changeCannedReply: { body: 'Thank you for your patience, and sorry for the wait.' },
  addNote: { body: 'He called about this yesterday.', mentions: [] },
  markConversationRead: { position: 12 },
  setConversationPriority: { priority: 'high' },
  setHours: {
    hours: {
      timezone: 'Europe/Berlin',
      week: { mon: [{ from: '09:00', until: '17:30' }] },
      closed: ['2026-12-25'],
      away_message: null,
    },
  },
  setWidget: {
    accent: '#1d57a8',
    agent_name: 'Linda',
    greetings: { en: { greeting: 'Hello! Ask us about cards.', starters: ['How do I block my card?'] } },
    ask_email: 'on_escalation',
    outside: 'show',
  },
  setWidgetPicture: { file: '(the bytes of a picture)' },
  setTeamTags: { tags: [{ name: 'refund', colour: 'orange' }] },
  setConversationTags: { tags: ['cards', 'refund'] },
  snoozeConversation: { until: 'reply' },
  escalateConversation: { reason: 'A refund over 500 EUR.' },
  recoverDeliveries: { since: '2026-01-31T00:00:00Z' },

  createMeeting: { title: 'Weekly planning', ttl_days: 365, settings: { timezone: 'Europe/Berlin' } },
  renameMeeting: { title: 'Planning in May' },
  updateMeetingSettings: { participation_level: 'low', proactive_suggest: false },
  addTranscript: {
    segments: [
      { id: 's-1', speaker: 'Ada', text: 'I will order the new cards by Friday.', timestamp: '2026-11-24T09:00:00Z' },
    ],
  },
  setAvailability: { org_id: 'org_01KAXE9J6M5T2Q8R4V7W0Y3Z1B', state: 'away' },
  setNotices: { mail_after_minutes: 10, quiet_hours: { from: '20:00', until: '07:00', timezone: 'Europe/Berlin' } },
  setOrgWebhooks: { email_notifications: true, notify_on: ['task_assigned', 'meeting_ended'] },

  connectLinear: { api_key: 'lin_api_0123456789', team_id: 'ENG' },
  connectGithub: { token: 'github_pat_0123456789', repository: 'lindenbank/support' },
  connectSlack: { channel_id: 'C0123456789' },
  connectEmail: { smtp_url: 'smtps://support:password@mail.example.com', from: 'Lindenbank <help@example.com>' },

  createInterview: {
    role_title: 'Go developer',
    skills: ['Go', 'MongoDB'],
    question_count: 5,
    candidate_email: 'ada@example.com',
    mode: 'solo',
  },
  updateInterview: { evaluation_criteria: ['Go', 'communication'], question_count: 6 },
  startInterview: { candidate_name: 'Ada Example' },
  cancelInterview: { reason: 'The candidate is ill.' },
  uploadResume: { file: '%PDF-1.7' },
  scoreByHand: { criteria: { Go: 8, communication: 6 }, notes: 'Clear, a little short.', recommendation: 'next_round' },
  decideInterview: { decision: 'hire', notes: 'Strong in Go.' },
  draftInterview: { prompt: 'A senior Go developer, 45 minutes, tomorrow at 10:30', timezone: 'Europe/Berlin' },
  generateQuestions: {
    title: 'Go developer',
    job_description: 'Builds services in Go that store in MongoDB.',
    required_skills: ['Go', 'MongoDB'],
    experience_level: 'senior',
    question_count: 5,
  },

  createTask: { title: 'Order the new cards', priority: 'high', due_date: '2030-01-31' },
  updateTask: { status: 'completed' },
  extractTasks: { org_id: 'org_01M7YGT1Y2M8Q0Z6V3C4K5R7XA' },
};
