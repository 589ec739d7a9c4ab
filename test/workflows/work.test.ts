/**
 * Records, activities and the API start workflows by name, and one function per workflow creates its start.
 * The compiler checks name, arguments and signal against the workflow. The queue and the id are written out here,
 * because running workflows continue under the same id.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { memberDepartedWork } from '../../models/rules/access/work.ts';
import type { Work } from '../../models/rules/base/work.ts';
import {
  conversationWork,
  eraseCustomerWork,
  mailReplyWork,
  noticesWork,
  ticketEventsWork,
} from '../../models/rules/chat/work.ts';
import {
  arrangeRecrawlWork,
  crawlSiteWork,
  pruneKnowledgeWork,
  recrawlSiteWork,
} from '../../models/rules/crawl/work.ts';
import { announceWork, inboundWork, sendLineWork } from '../../models/rules/events/work.ts';
import { releaseCredentialWork, tryIntegrationWork } from '../../models/rules/integrations/work.ts';
import { interviewWork, meetingWork } from '../../models/rules/interviews/work.ts';
import {
  copyTestToLiveWork,
  embedPassagesWork,
  eraseSourceWork,
  maintainStoresWork,
  processDocumentWork,
  retagSourceWork,
} from '../../models/rules/knowledge/work.ts';
import {
  beginToolGrantWork,
  discoverToolsWork,
  finishToolGrantWork,
  toolCallWork,
} from '../../models/rules/mcp/work.ts';
import { eraseTaskWork, taskExecutionWork, taskIssuesWork } from '../../models/rules/tasks/work.ts';
import type { attend } from '../../workflows/chat/conversation.ts';
import type { decided } from '../../workflows/chat/toolcall.ts';
import type { arrived } from '../../workflows/events/inbound.ts';
import type { tryNow } from '../../workflows/events/lines.ts';
import type { replied } from '../../workflows/events/mailreply.ts';
import type { noticed } from '../../workflows/events/notices.ts';
import type { lineNews } from '../../workflows/events/sendline.ts';
import type { ticketEvent } from '../../workflows/events/ticketevents.ts';
import * as workflows from '../../workflows/index.ts';
import type {
  botReported,
  interviewChanged,
  removeInterviewNow,
  roomChanged,
} from '../../workflows/interviews/interview.ts';
import type { removeNow } from '../../workflows/interviews/meeting.ts';
import type { wake } from '../../workflows/knowledge/embed.ts';
import type { happened } from '../../workflows/tasks/announce.ts';
import type { taskChanged } from '../../workflows/tasks/taskissues.ts';

type Workflows = typeof workflows;
/** The signals that each workflow handles; a workflow that is not listed handles none. */
type Signals = {
  announce: typeof happened;
  conversation: typeof attend;
  embedPassages: typeof wake;
  inbound: typeof arrived;
  interview: typeof botReported | typeof interviewChanged | typeof removeInterviewNow | typeof roomChanged;
  mailReply: typeof replied;
  meeting: typeof removeNow;
  notices: typeof noticed;
  sendLine: typeof lineNews | typeof tryNow;
  taskIssues: typeof taskChanged;
  ticketEvents: typeof ticketEvent | typeof tryNow;
  toolCall: typeof decided;
};
type SignalOf<Name> = Name extends keyof Signals ? Signals[Name]['name'] : never;

/** Each workflow's starts, with what Temporal is given: queue, id, signal, arguments. */
const made: {
  [Name in keyof Workflows]: [Work<Name, Parameters<Workflows[Name]>, SignalOf<Name>>, string][];
} = {
  announce: [
    [announceWork({ orgId: 'o', taskId: 't' }), 'tasks announce:t happened [{"orgId":"o","taskId":"t"}]'],
    [
      announceWork({ owner: 'u', meetingId: 'm', event: 'meeting_ended', version: 0 }),
      'tasks announce:m:meeting_ended:0 - [{"owner":"u","meetingId":"m","event":"meeting_ended","version":0}]',
    ],
  ],
  arrangeRecrawl: [[arrangeRecrawlWork('o', 's', 'c'), 'crawl recrawl:s:arrange:c - [{"orgId":"o","scheduleId":"s"}]']],
  beginToolGrant: [[beginToolGrantWork('o', 'g', 'r'), 'tools tool-grant:o:r - [{"orgId":"o","grantId":"g"}]']],
  conversation: [[conversationWork('o', 'c'), 'conversations conversation:c attend [{"orgId":"o","convId":"c"}]']],
  copyTestToLive: [[copyTestToLiveWork('o', 'c'), 'sources live-copy:c - [{"orgId":"o","copyId":"c"}]']],
  crawlSite: [[crawlSiteWork('o', 'c'), 'crawl crawl:c - [{"orgId":"o","crawlId":"c"}]']],
  discoverTools: [[discoverToolsWork('o', 'r'), 'tools discover:o:r - [{"orgId":"o"}]']],
  embedPassages: [[embedPassagesWork('o', 'live'), 'embedding embed:o.live wake [{"orgId":"o","mode":"live"}]']],
  eraseCustomer: [[eraseCustomerWork('o', 'c'), 'conversations customer:c:erase - [{"orgId":"o","customerId":"c"}]']],
  eraseSource: [
    [eraseSourceWork('document', 'o', 'd'), 'sources document:d:erase - [{"orgId":"o","sourceId":"d"}]'],
    [eraseSourceWork('page', 'o', 'p'), 'sources page:p:erase - [{"orgId":"o","sourceId":"p"}]'],
  ],
  eraseTask: [[eraseTaskWork('t'), 'tasks task:t:erase - [{"taskId":"t"}]']],
  finishToolGrant: [[finishToolGrantWork('o', 'g'), 'tools tool-grant:g - [{"orgId":"o","grantId":"g"}]']],
  inbound: [[inboundWork('o'), 'inbound inbound:o arrived [{"orgId":"o"}]']],
  interview: [
    [interviewWork('o', 'i'), 'interviews interview:i - [{"orgId":"o","interviewId":"i"}]'],
    [interviewWork('o', 'i', 'room'), 'interviews interview:i room [{"orgId":"o","interviewId":"i"}]'],
  ],
  mailReply: [[mailReplyWork('o', 'c'), 'deliveries mailreply:c replied [{"orgId":"o","convId":"c"}]']],
  maintainStores: [[maintainStoresWork(), 'maintenance maintain-stores - []']],
  meeting: (['-', 'remove'] as const).map((signal) => [
    meetingWork({ _id: 'm', org_id: 'u', expires_at: new Date(0) }, { removed: signal === 'remove' }),
    `interviews meeting:m ${signal} [{"owner":"u","meetingId":"m","expiresAt":"1970-01-01T00:00:00.000Z"}]`,
  ]),
  memberDeparted: [
    [
      memberDepartedWork('o', 'd', { userId: 'u', keepKeysFor: undefined, leftAt: new Date(0) }),
      'tasks departure:d - [{"orgId":"o","userId":"u","leftAt":"1970-01-01T00:00:00.000Z"}]',
    ],
    [
      memberDepartedWork('o', 'd', { userId: 'u', keepKeysFor: 'v', leftAt: new Date(0) }),
      'tasks departure:d - [{"orgId":"o","userId":"u","keepKeysFor":"v","leftAt":"1970-01-01T00:00:00.000Z"}]',
    ],
  ],
  notices: [
    [noticesWork('o', { convId: 'c' }), 'deliveries notices:c noticed [{"orgId":"o","convId":"c"}]'],
    [noticesWork('o', { callId: 'c' }), 'deliveries notices:c noticed [{"orgId":"o","callId":"c"}]'],
    [noticesWork('o', { deliveryId: 'd' }), 'deliveries notices:d noticed [{"orgId":"o","deliveryId":"d"}]'],
  ],
  processDocument: [
    [
      processDocumentWork('o', 'd', 1, { crowded: true }),
      'documents document:d - [{"orgId":"o","docId":"d","generation":1,"crowded":true}]',
    ],
    [processDocumentWork('o', 'd', 2), 'documents document:d:2 - [{"orgId":"o","docId":"d","generation":2}]'],
  ],
  pruneKnowledge: [[pruneKnowledgeWork('o', 'p'), 'sources pruning:p - [{"orgId":"o","pruningId":"p"}]']],
  recrawlSite: [[recrawlSiteWork('o', 's'), 'crawl recrawl:s - [{"orgId":"o","scheduleId":"s"}]']],
  releaseCredential: [[releaseCredentialWork('o', 'r'), 'inbound release:r - [{"orgId":"o","releaseId":"r"}]']],
  retagSource: [
    [retagSourceWork('document', 'o', 'd', 'c'), 'sources document:d:tags:c - [{"orgId":"o","sourceId":"d"}]'],
  ],
  sendLine: [
    [sendLineWork('o', 'l'), 'deliveries delivery:l attend [{"orgId":"o","line":"l"}]'],
    [sendLineWork('o', 'l', { now: true }), 'deliveries delivery:l tryNow [{"orgId":"o","line":"l"}]'],
  ],
  taskExecution: [
    [taskExecutionWork('o', 't', 'e'), 'tasks task:t:execution:e - [{"orgId":"o","taskId":"t","executionId":"e"}]'],
  ],
  taskIssues: [[taskIssuesWork('o', 't'), 'tasks task:t:issues taskChanged [{"orgId":"o","taskId":"t"}]']],
  ticketEvents: (['ticketEvent', 'tryNow'] as const).map((signal) => [
    ticketEventsWork('o', 'c', 't', { now: signal === 'tryNow' }),
    `deliveries ticket:t ${signal} [{"orgId":"o","convId":"c","ticketId":"t"}]`,
  ]),
  toolCall: [
    [toolCallWork('o', 'c'), 'tools tool:c - [{"orgId":"o","callId":"c"}]'],
    [toolCallWork('o', 'c', { decided: true }), 'tools tool:c decided [{"orgId":"o","callId":"c"}]'],
  ],
  tryIntegration: [
    [
      tryIntegrationWork({ orgId: 'o', provider: 'slack', what: 'test', candidateId: 'c' }),
      'inbound integration:o.slack:c - [{"orgId":"o","provider":"slack","what":"test","candidateId":"c"}]',
    ],
  ],
};

describe('models/rules/<slice>/work.ts', () => {
  it('every workflow has exactly one function that creates its start, named after the workflow', async () => {
    const rules = fileURLToPath(new URL('../../models/rules/', import.meta.url));
    const files = (await readdir(rules, { recursive: true })).filter((file) => /^[a-z]+\/work\.ts$/.test(file));
    const exported = await Promise.all(
      files.map(async (file) => Object.keys((await import(join(rules, file))) as object)),
    );
    const makers = exported.flat().filter((name) => name.endsWith('Work'));
    expect(makers.toSorted()).toEqual(
      Object.keys(workflows)
        .map((name) => `${name}Work`)
        .toSorted(),
    );
  });

  it.each(Object.entries(made))(
    'the start of the workflow %s has the expected queue, id, signal and arguments',
    (name, starts) => {
      for (const [{ workflow, queue, id, signal, args }, given] of starts) {
        expect(workflow).toBe(name);
        expect(`${queue} ${id} ${signal ?? '-'} ${JSON.stringify(args)}`).toBe(given);
      }
    },
  );

  it('workflow tasks of tool calls and conversations time out after five seconds, because a customer waits', () => {
    expect([toolCallWork('o', 'c').taskTimeoutMs, conversationWork('o', 'c').taskTimeoutMs]).toEqual([5_000, 5_000]);
  });
});
