/** Records and activities name workflows, queues and signals by text; the names are those of the definitions. */
import { expect, it } from '@jest/globals';
import { conversationWork } from '../../models/rules/chat/work.ts';
import { inboundWork } from '../../models/rules/events/inbound.ts';
import { attend, conversation } from '../../workflows/conversation.ts';
import { arrived, inbound } from '../../workflows/inbound.ts';
import { queues } from '../../workflows/queues.ts';

it('a conversation has the names by which records ask for it', () => {
  const { workflow, queue, signal } = conversationWork;
  expect([conversation.name, queues.conversations, attend.name]).toEqual([workflow, queue, signal]);
});

it('what arrives has the names by which records ask for it', () => {
  const { workflow, queue, signal } = inboundWork;
  expect([inbound.name, queues.inbound, arrived.name]).toEqual([workflow, queue, signal]);
});
