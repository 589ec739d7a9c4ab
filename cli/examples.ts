/**
 * The examples in the help of the commands that are written by hand. The tables in cli/nouns/ contain the examples of
 * all other commands.
 */
const doc = 'doc_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const page = 'page_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const org = 'org_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const conversation = 'conv_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

export const examples: Readonly<Record<string, readonly string[]>> = {
  register: ['register --email grace@example.com --name Grace --company Lindenbank --password-stdin < password'],
  login: ['login --email grace@example.com', 'login --email grace@example.com --password-stdin < password'],
  logout: ['logout', 'logout --everywhere'],
  'password-link': ['password-link grace@example.com'],
  reseal: ['reseal'],
  doctor: ['doctor'],
  'ops stuck': ['ops stuck'],
  'ops org': [`ops org ${org}`, 'ops org grace@example.com', 'ops org Lindenbank'],
  'ops show': [`ops show document:${doc}`],
  'ops retry': [`ops retry document:${doc}`],
  'ops cancel': ['ops cancel crawl:crawl_01M7YGT1Y2M8Q0Z6V3C4K5R7XA'],
  'ops login': ['ops login'],
  'ops restart': ['ops restart'],
  'ops log': ['ops log'],
  'org create': ['org create Lindenbank'],
  'org list': ['org list'],
  'org use': [`org use ${org}`],
  'org go-live': [`org go-live ${org}`],
  'keys create': ['keys create website --scopes support:read,support:write', 'keys create website --mode live'],
  'keys list': ['keys list'],
  'keys revoke': ['keys revoke key_01M7YGT1Y2M8Q0Z6V3C4K5R7XA'],
  'docs add': ['docs add help.md fees.xlsx --segments personal', 'docs add help.md --authority primary --wait'],
  'docs list': ['docs list'],
  'docs tag': [`docs tag ${doc} personal,business`],
  'docs authority': [`docs authority ${doc} primary`],
  'docs rm': [`docs rm ${doc}`],
  'docs reprocess': [`docs reprocess ${doc}`],
  'crawl start': [
    'crawl start https://www.example.com/help/ --watch',
    'crawl start https://www.example.com/ --every 24',
  ],
  'crawl status': ['crawl status'],
  'crawl cancel': ['crawl cancel'],
  'crawl schedules': ['crawl schedules'],
  'crawl unschedule': ['crawl unschedule sched_01M7YGT1Y2M8Q0Z6V3C4K5R7XA'],
  'pages list': ['pages list'],
  'pages tag': [`pages tag ${page} personal`],
  'pages authority': [`pages authority ${page} normal`],
  'pages rm': [`pages rm ${page}`],
  prune: ['prune', 'prune --apply'],
  ask: ['ask "How long does a transfer take?"', 'ask "How long does a transfer take?" --segment business --explain'],
  gaps: ['gaps --status open'],
  'inbox list': ['inbox list --status escalated --assigned-to none'],
  'inbox show': [`inbox show ${conversation}`],
  'inbox reply': [`inbox reply ${conversation} "Hello, this is Grace."`],
  'inbox resolve': [`inbox resolve ${conversation}`],
  'inbox reopen': [`inbox reopen ${conversation}`],
  'inbox assign': [`inbox assign ${conversation} me`, `inbox assign ${conversation} usr_01M7YGT1Y2M8Q0Z6V3C4K5R7XA`],
  'inbox escalate': [`inbox escalate ${conversation} --reason "A refund over 500 EUR."`],
};
