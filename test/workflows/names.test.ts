/** Records and activities name workflows, queues and signals by text; the names are those of the definitions. */
import { expect, it } from '@jest/globals';
import { conversationWork, noticing, ticketEventsWork } from '../../models/rules/chat/work.ts';
import { deliveryWork, slowQueue, tryNowSignal } from '../../models/rules/events/work.ts';
import { announcing, happenedSignal } from '../../models/rules/events/announcement.ts';
import { inboundWork } from '../../models/rules/events/inbound.ts';
import { releasingWork } from '../../models/rules/integrations/integrationwork.ts';
import { documentWork } from '../../models/rules/knowledge/documentwork.ts';
import { announce, happened } from '../../workflows/tasks/announce.ts';
import { attend, conversation } from '../../workflows/chat/conversation.ts';
import { documentWorkflowId, processDocument } from '../../workflows/knowledge/document.ts';
import { arrived, inbound } from '../../workflows/events/inbound.ts';
import { noticed, notices } from '../../workflows/events/notices.ts';
import { tryNow } from '../../workflows/events/lines.ts';
import { queues } from '../../models/rules/base/work.ts';
import { releaseCredential } from '../../workflows/integrations/release.ts';
import { lineNews, sendLine } from '../../workflows/events/sendline.ts';
import { ticketEvent, ticketEvents } from '../../workflows/events/ticketevents.ts';

it('a conversation has the names by which records ask for it', () => {
  const { workflow, queue, signal } = conversationWork;
  expect([conversation.name, queues.conversations, attend.name]).toEqual([workflow, queue, signal]);
});

it('what arrives has the names by which records ask for it', () => {
  const { workflow, queue, signal } = inboundWork;
  expect([inbound.name, queues.inbound, arrived.name]).toEqual([workflow, queue, signal]);
});

it('a ticket’s events, and a line of deliveries, have the names by which records ask for them', () => {
  const { workflow, queue, signal } = ticketEventsWork;
  expect([ticketEvents.name, queues.deliveries, ticketEvent.name]).toEqual([workflow, queue, signal]);
  expect([sendLine.name, queues.deliveries, lineNews.name]).toEqual([
    deliveryWork.workflow,
    deliveryWork.queue,
    deliveryWork.signal,
  ]);
  expect([queues.slowdeliveries, tryNow.name]).toEqual([slowQueue, tryNowSignal]);
});

it('what members are told has the names by which records ask for it', () => {
  const { workflow, queue, signal } = noticing;
  expect([notices.name, queues.deliveries, noticed.name]).toEqual([workflow, queue, signal]);
});

it('a document that an activity stores has the names by which it is processed', () => {
  const { workflow, id, queue } = documentWork('org_1', 'doc_1');
  expect([workflow, id, queue]).toEqual([processDocument.name, documentWorkflowId('doc_1', 1), queues.documents]);
});

it('the giving back of a credential has the names by which records ask for it', () => {
  const { workflow, queue } = releasingWork('org_1', 'rel_1');
  expect([releaseCredential.name, queues.inbound]).toEqual([workflow, queue]);
});

it('what is announced has the names by which records ask for it', () => {
  expect([announce.name, queues.tasks, happened.name]).toEqual([announcing.workflow, announcing.queue, happenedSignal]);
});
