/** All workflows, as a worker bundles them. */
export { conversation } from './conversation.ts';
export { crawlSite } from './crawl.ts';
export { processDocument } from './document.ts';
export { embedPassages } from './embed.ts';
export { eraseCustomer } from './erasure.ts';
export { inbound } from './inbound.ts';
export { tryIntegration } from './integration.ts';
export { mailReply } from './mailreply.ts';
export { interview } from './interview.ts';
export { maintainStores } from './maintenance.ts';
export { meeting } from './meeting.ts';
export { pruneKnowledge } from './pruning.ts';
export { arrangeRecrawl, recrawlSite } from './recrawl.ts';
export { sendLine } from './sendline.ts';
export { eraseSource, retagSource } from './source.ts';
export { ticketEvents } from './ticketevents.ts';
export { toolCall } from './toolcall.ts';
export { beginToolGrant, discoverTools, finishToolGrant } from './toolserver.ts';
