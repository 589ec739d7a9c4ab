/**
 * The examples in the help of the commands that are written by hand. The tables in cli/nouns/ contain the examples of
 * all other commands.
 */
const doc = 'doc_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';
const org = 'org_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

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
  'docs add': ['docs add help.md fees.xlsx --segments personal', 'docs add help.md --authority primary --wait'],
  'docs reprocess': [`docs reprocess ${doc}`],
  ask: ['ask "How long does a transfer take?"', 'ask "How long does a transfer take?" --segment business --explain'],
};
