import { describe, expect, it } from '@jest/globals';
import { maxNoteLength, previewLength } from '../../../models/rules/chat/conversation.ts';
import { maxExternalIdLength, maxNameLength } from '../../../models/rules/access/session.ts';
import { maskHeaders, maskUrl, mayHaveArrived } from '../../../models/rules/events/delivery.ts';
import { descriptionOf, eventBody, maxBodyBytes, type EventData } from '../../../models/rules/events/ticketevent.ts';

describe('maskUrl', () => {
  it.each([
    ['https://example.com/hooks/tickets', 'https://example.com/hooks/tickets'],
    ['https://example.com/hooks?token=abc&a=b', 'https://example.com/hooks?token=***&a=***'],
    ['https://example.com/hooks?token=a&token=b', 'https://example.com/hooks?token=***'],
    ['https://user:pass@example.com/', 'https://user:***@example.com/'],
    ['https://hooks.slack.com/services/T1/B1/secret', 'https://hooks.slack.com/services/***'],
    ['#support', '#support'],
  ])('the webhook address %s is shown as %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
  });
});

describe('maskHeaders', () => {
  it('shown request headers keep signatures and mask credentials', () => {
    const open = { 'webhook-id': 'evt_1', 'webhook-signature': 'v1,abc', 'content-type': 'application/json' };
    const secret = { Authorization: 'Bearer x', cookie: 'a=b', 'X-Api-Key': 'k', 'x-auth-token': 't' };
    const hidden = { Authorization: '***', cookie: '***', 'X-Api-Key': '***', 'x-auth-token': '***' };
    expect(maskHeaders({ ...open, ...secret })).toEqual({ ...open, ...hidden });
  });
});

describe('mayHaveArrived', () => {
  it.each([
    [undefined, true],
    [408, true],
    [502, true],
    [429, false],
    [401, false],
  ])('an attempt that ended with the status %s may have reached the receiver: %s', (status_code, expected) => {
    expect(mayHaveArrived(status_code === undefined ? {} : { status_code })).toBe(expected);
  });
});

describe('the body of an event', () => {
  it('the body of an event stays below the promised maximum size when every field has its maximum length', () => {
    // JSON writes a control character as six bytes.
    const long = (length: number) => '\u0001'.repeat(length);
    const data: EventData = {
      org_id: `org_${'0'.repeat(26)}`,
      mode: 'live',
      ticket: {
        ticket_id: `tkt_${'0'.repeat(26)}`,
        status: 'in_progress',
        event_seq: 101,
        reason: 'no_context',
        description: long(maxNoteLength),
        created_at: new Date(0).toISOString(),
      },
      conversation: {
        conv_id: `conv_${'0'.repeat(26)}`,
        status: 'escalated',
        preview: long(previewLength),
        last_message_at: new Date(0).toISOString(),
        created_at: new Date(0).toISOString(),
      },
      customer: {
        customer_id: `cus_${'0'.repeat(26)}`,
        external_id: long(maxExternalIdLength),
        email: long(320),
        name: long(maxNameLength),
        verified: true,
      },
    };
    expect(Buffer.byteLength(eventBody('ticket.escalated', new Date(0), data))).toBeLessThan(maxBodyBytes);
  });

  it('the description of an escalation event is the member’s note or, without a note, the reason for the escalation', () => {
    expect(descriptionOf({ reason: 'member', note: 'She called.' })).toBe('She called.');
    expect(descriptionOf({ reason: 'asked' })).toBe('The customer asked for a person.');
  });
});
