/**
 * Mail with a real mail server: what customers get after they have left the chat, and what happens to their replies.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createEmulator } from 'emulate';
import pino from 'pino';
import PostalMime from 'postal-mime';
import { WebSocket } from 'ws';
import { apiAt, until, type Api, type TestOrg, type TestSession } from '../../kit/harness.ts';
import { startGreenMail, type GreenMail } from '../../kit/greenmail.ts';
import { startProcess, systemEnv, type Running, type SystemEnv } from '../../kit/processes.ts';
import { box } from '../../kit/inbound.ts';
import { mailOf, sesNotification, type SesMail } from '../../kit/ses.ts';
import { temporalTraces } from '../../kit/temporaltraces.ts';
import { startTopic, type Topic } from '../../kit/sns.ts';
import { ChatClient, chatUrl } from '../../kit/socket.ts';
import { createMailReplyActivities } from '../../../activities/events/mailreply.ts';
import { freePort } from '../../../engines/ports.ts';
import { createMailer, type Mailer, type MailRoute } from '../../../providers/mail/client.ts';
import { startSaved } from '../../../workflows/start.ts';
import { verifyEmail } from '../../../models/access/user.ts';
import { connectMongo, disconnectMongo } from '../../../models/base/connect.ts';
import { ConversationModel } from '../../../models/chat/conversation.ts';
import { MessageModel } from '../../../models/chat/message.ts';
import { PresenceModel } from '../../../models/live/presence.ts';
import { DeliveryModel, type Delivery } from '../../../models/events/delivery.ts';
import { objectionToken, objectToMails } from '../../../models/events/outsidemail.ts';
import { InboundModel, type Inbound } from '../../../models/events/inbound.ts';
import { maxTicketEvents } from '../../../models/rules/chat/conversation.ts';
import { mailReasons, type MailReason } from '../../../models/rules/events/mailin.ts';
import { readMailbox } from '../../../models/rules/access/mailbox.ts';
import type { OutgoingMail } from '../../../models/rules/events/mailout.ts';
import { everyRecord } from '../../../models/base/define.ts';
import { walked } from '../../kit/database.ts';
import { defined } from '../../../models/rules/base/defined.ts';

const replyDomain = 'reply.bank.example';
let greenMail: GreenMail;
let topic: Topic;
let objects: { url: string; close(): Promise<void> };
let env: SystemEnv;
let api: Api;
let running: Running[];
let temporal: Connection;
let org: TestOrg;
let key: string;

beforeAll(async () => {
  [greenMail, topic] = await Promise.all([
    startGreenMail(['alice@customer.example', 'killed@customer.example', 'own@bank.example']),
    startTopic(),
  ]);
  objects = await createEmulator({ service: 'aws', port: await freePort() });
  env = systemEnv('mail', {
    FLEETS: 'conversations,deliveries,slowdeliveries,inbound,documents,interviews,backlog',
    SMTP_URL: `smtp://127.0.0.1:${greenMail.smtpPort}`,
    MAIL_FROM: 'support@bank.example',
    REPLY_DOMAIN: replyDomain,
    SNS_TOPIC_ARNS: topic.arn,
    INBOUND_BUCKETS: 'mails',
    SERVICE_URLS: `sns=${topic.url},s3=${objects.url}`,
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI',
  });
  running = await Promise.all([startProcess('api/server.ts', env), startProcess('workers/main.ts', env)]);
  api = apiAt(running[0]!.url);
  await connectMongo(env['MONGODB_URI']!);
  temporal = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  org = await api.newOrg();
  await verifyEmail(org.owner.userId, org.owner.email);
  await api.goLive(org);
  // The owner gets no mails, so that all mails of these tests are to customers.
  expect((await api.request('PUT', '/me/notices', { token: org.owner.token, body: { mail: false } })).status).toBe(200);
  key = (await api.newKey(org, { mode: 'live' })).token;
  const { body } = await api.upload(org.orgId, key, {
    name: 'gannets.md',
    content: '# Gannet cards\nThe gannet card costs 12 EUR a year. It is free for students under 26.\n',
  });
  await api.processed(org.orgId, key, body.document.doc_id);
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await temporal.close();
  await disconnectMongo();
  await Promise.all([topic.close(), objects.close()]);
  greenMail.close();
});

const began = new Date();
/** The workflows of the organization that contain this text. */
const inTemporal = (text: string): Promise<string[]> =>
  temporalTraces(new Client({ connection: temporal }), text, { orgIds: [org.orgId], began });

const testKey = async () => (await api.newKey(org, { mode: 'test' })).token;

type Customer = TestSession & { email: string; convId: string };

/** A customer who has written in the chat over REST and has left. */
async function customer(options: { email?: string; mode?: 'live' | 'test' } = {}): Promise<Customer> {
  const email = options.email ?? `${randomUUID()}@customer.example`;
  const minted = await api.newSession(org, {
    key: options.mode === 'test' ? await testKey() : key,
    body: { customer: { email, name: 'Alice Müller' } },
  });
  const { body } = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
    token: minted.token,
    body: { body: 'I want to talk to a person, please.' },
  });
  const convId = body.conv_id as string;
  await until(
    async () => (await ConversationModel.findById(convId).lean())?.status === 'escalated',
    'a person to be called',
  );
  return { ...minted, email, convId };
}

/** The customer's socket, once it shows the conversation. */
async function connected({ token }: TestSession): Promise<ChatClient> {
  const client = await new ChatClient(org.orgId, { sessionToken: token }).connect(api.url);
  await until(async () => client.convId, 'the conversation to be shown');
  return client;
}

const reply = (convId: string, text: string) =>
  api.request('POST', `/support/inbox/orgs/${org.orgId}/${convId}/reply`, {
    token: org.owner.token,
    body: { body: text },
  });

/** Runs what the workflow does a minute after a reply. */
async function aMinuteLater(convId: string): Promise<void> {
  const ctx = {
    temporal: new Client({ connection: temporal }),
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
    config: { taskQueuePrefix: env['TASK_QUEUE_PREFIX']! },
  };
  const { mailUnsent } = createMailReplyActivities({
    ...ctx,
    mail: {
      server: undefined,
      from: readMailbox(env['MAIL_FROM']!)!,
      replyDomain,
      outsidePerDay: 100,
    },
    secrets: box,
    start: (model, record, intents) => startSaved(ctx, model, record, intents),
  });
  await new MockActivityEnvironment().run(mailUnsent, { orgId: org.orgId, convId });
}

const deliveriesOf = (convId: string): Promise<Delivery[]> =>
  DeliveryModel.find({ kind: 'email', 'subject.conv_id': convId }, null, everyRecord).sort({ _id: 1 }).lean();
const mailIn = ({ payload }: Delivery): OutgoingMail => (payload as { mail: OutgoingMail }).mail;

/** The last mail of a conversation, once it is sent or suppressed. */
const sentMail = (convId: string, status: Delivery['status'] = 'delivered', count = 1): Promise<OutgoingMail> =>
  until(async () => {
    const deliveries = await deliveriesOf(convId);
    return deliveries.length === count && deliveries.at(-1)!.status === status && mailIn(deliveries.at(-1)!);
  }, `${count} mail to be ${status}`);

/** A customer who got a mail and may reply to it. */
async function mailed(options: Parameters<typeof customer>[0] = {}) {
  const one = await customer(options);
  await reply(one.convId, 'Hello, Anna here. Which card is it?');
  await aMinuteLater(one.convId);
  return { ...one, mail: await sentMail(one.convId, options.mode === 'test' ? 'suppressed' : 'delivered') };
}

/** Delivers a mail in the way of Amazon SES and returns the processed record. */
async function arrives(mail: SesMail): Promise<Inbound> {
  const body = topic.message({ Message: sesNotification(mail), Subject: 'Amazon SES Email Receipt Notification – ü' });
  const { status } = await api.request('POST', '/webhooks/email/inbound', { raw: body, headers: topic.headers(body) });
  expect(status).toBe(200);
  const { MessageId } = JSON.parse(body) as { MessageId: string };
  return until(async () => {
    const inbound = await InboundModel.findOne(
      { keys: `${topic.arn} ${MessageId}` },
      null,
      everyRecord,
    ).lean<Inbound>();
    return inbound === null || inbound.status === 'stored' ? undefined : inbound;
  }, 'the mail to be processed');
}

const answering = (mail: OutgoingMail, from: string, text: string, head: Record<string, string> = {}): SesMail => ({
  recipients: [mail.reply_to!.address],
  mail: mailOf(
    {
      From: `Alice <${from}>`,
      To: mail.reply_to!.address,
      Subject: `Re: ${mail.subject}`,
      'In-Reply-To': mail.message_id,
      References: [...mail.references, mail.message_id].join(' '),
      'Content-Type': 'text/plain; charset=utf-8',
      ...head,
    },
    `${text}\n\nOn Sun, 22 Nov 2026 at 10:00, Bank <${mail.reply_to!.address}> wrote:\n\n${mail.text
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n')}`,
  ),
});

/** The conversation, once nothing is left to show, start or plan. Then only the next event changes it. */
const settledConversation = (convId: string) =>
  until(async () => {
    const found = (await ConversationModel.findById(convId).lean())!;
    const { shown_version, status_version, events, events_planned, pending = [] } = found;
    const isPlanned = (events_planned ?? 0) === (events.at(-1)?.seq ?? 0);
    return shown_version === status_version && isPlanned && pending.length === 0 && found;
  }, 'the conversation to be attended to');

const messagesOf = (convId: string) => MessageModel.find({ conv_id: convId }).sort({ position: 1 }).lean();

describe('a member’s reply to a customer who has left', () => {
  it('a member’s reply is mailed to a customer who has left, and all mails and answers form one thread', async () => {
    const { convId, email } = await customer({ email: 'alice@customer.example' });
    await reply(convId, 'Grüezi, Anna here. Which card is it?');
    await reply(convId, 'A photo helps, too.');
    await until(async () => {
      const { status } = await new Client({ connection: temporal }).workflow
        .getHandle(`mailreply:${convId}`)
        .describe();
      return status.name === 'RUNNING';
    }, 'the workflow that waits a minute');
    await aMinuteLater(convId);
    const mail = await sentMail(convId);
    const [received = ''] = await until(async () => {
      const mails = await greenMail.mailsOf('alice@customer.example');
      return mails.length > 0 && mails;
    }, 'the mail');
    expect(received).toContain('From: Test Organization <support@bank.example>');
    expect(received).toMatch(/^To: =\?UTF-8\?Q\?Alice_M=C3=BCller\?= <alice@customer\.example>/m);
    expect(received).toMatch(new RegExp(`^Message-ID:\\s+${mail.message_id}`, 'm'));
    expect(received).toContain('Auto-Submitted: auto-generated');
    expect(received).toContain('X-Auto-Response-Suppress: All');
    // A backend vouches for this customer's address, so the mail needs no link to stop such mails.
    expect(received).not.toContain('List-Unsubscribe');
    const [, address = ''] = /^Reply-To: Test Organization\s+<([^>]+)>/m.exec(received) ?? [];
    expect(address).toMatch(/^reply\+[0-9a-f]{52}@reply\.bank\.example$/);
    expect(mail.text).toMatch(
      /Test Person:\nGrüezi, Anna here\. Which card is it\?\n\nTest Person:\nA photo helps, too\./,
    );

    // The customer wrote with a person before, so the customer's answer escalates again.
    const inbound = await arrives(answering(mail, email, 'The blue one.'));
    expect(inbound).toMatchObject({ status: 'processed', org_id: org.orgId, mode: 'live' });
    const messages = await messagesOf(convId);
    expect(messages.at(-1)).toMatchObject({ role: 'customer', body: 'The blue one.', verified: true });
    await until(
      async () => (await ConversationModel.findById(convId).lean())?.status === 'escalated',
      'a person to be called',
    );

    // The conversation is resolved. Then the agent answers a question by mail.
    await api.request('POST', `/support/inbox/orgs/${org.orgId}/${convId}/resolve`, {
      token: org.owner.token,
      body: {},
    });
    const asked = answering(mail, email, 'What does the gannet card cost?');
    expect((await arrives(asked)).status).toBe('processed');
    await until(async () => (await messagesOf(convId)).at(-1)?.role === 'ai', 'the answer');
    await aMinuteLater(convId);
    const second = await sentMail(convId, 'delivered', 2);
    expect(second.text).toContain('Test Organization (AI assistant):\nThe gannet card costs 12 EUR a year.');
    expect(second.subject).toBe(`Re: ${mail.subject}`);
    const askedId = /Message-ID: (\S+)/.exec(String(asked.mail))![1];
    expect(second.in_reply_to).toBe(askedId);
    expect(second.references[0]).toBe(mail.message_id);
    expect(second.references.at(-1)).toBe(askedId);
    expect(second.headers['Auto-Submitted']).toBe('auto-replied');
    expect(await greenMail.mailsOf('alice@customer.example')).toHaveLength(2);
  });

  it('several replies are sent in one mail, even when the activity that sends them runs more than once', async () => {
    const { convId } = await customer();
    await reply(convId, 'One.');
    await Promise.all([aMinuteLater(convId), aMinuteLater(convId)]);
    await aMinuteLater(convId);
    await sentMail(convId);
    expect(await deliveriesOf(convId)).toHaveLength(1);
    await reply(convId, 'Two.');
    await aMinuteLater(convId);
    const { text, in_reply_to } = await sentMail(convId, 'delivered', 2);
    expect(text).not.toContain('One.');
    expect(in_reply_to).toBe(mailIn((await deliveriesOf(convId))[0]!).message_id);
  });

  it('a reply is not mailed to a customer who is connected, or has connected or written since the reply', async () => {
    const [open, came, wrote] = [await customer(), await customer(), await customer()];
    const socket = await connected(open);
    for (const { convId } of [open, came, wrote]) await reply(convId, 'Are you there?');
    const other = await connected(came);
    await other.close();
    await api.request('POST', `/support/chat/messages/${org.orgId}`, { token: wrote.token, body: { body: 'Yes.' } });
    const seen = [open, came].map(({ convId }) => convId);
    await until(
      async () => (await PresenceModel.countDocuments({ _id: { $in: seen } })) === seen.length,
      'who came to be written down',
    );
    for (const { convId } of [open, came, wrote]) {
      await until(async () => {
        await aMinuteLater(convId);
        return (await MessageModel.countDocuments({ conv_id: convId, unmailed: true })) === 0;
      }, 'the reply to be settled');
      expect(await deliveriesOf(convId)).toEqual([]);
    }
    await socket.close();
  });

  it('a reply is mailed to a customer who is connected to another conversation, which does not show the reply', async () => {
    const one = await customer();
    const resolve = `/support/inbox/orgs/${org.orgId}/${one.convId}/resolve`;
    expect((await api.request('POST', resolve, { token: org.owner.token, body: {} })).status).toBe(200);
    const socket = await connected(one);
    const { body } = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
      token: one.token,
      body: { body: 'And what about my other card?' },
    });
    expect([body.conv_id === socket.convId, body.conv_id === one.convId]).toEqual([true, false]);
    await reply(one.convId, 'Your first card is on its way.');
    await until(
      async () => (await PresenceModel.countDocuments({ _id: body.conv_id })) === 1,
      'who came to be written down',
    );
    await aMinuteLater(one.convId);
    expect((await sentMail(one.convId)).to.address).toBe(one.email);
    await socket.close();
  });

  it('customers who disconnect right after their first frame are recorded as having been connected', async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => api.newSession(org, { key })));
    await Promise.all(
      sessions.map(async ({ token }) => {
        const socket = new WebSocket(chatUrl(api.url, org.orgId, { sessionToken: token }));
        await once(socket, 'message');
        socket.terminate();
      }),
    );
    const customerIds = sessions.map(({ customerId }) => customerId);
    const conversations = await ConversationModel.find({ customer_id: { $in: customerIds } }, null, everyRecord).lean();
    const seen = conversations.map(({ _id }) => _id);
    expect(seen).toHaveLength(sessions.length);
    await until(
      async () => (await PresenceModel.countDocuments({ _id: { $in: seen } })) === seen.length,
      'who came to be written down',
    );
  });

  it('a reply to a customer without a known address goes to the address given in the chat, with an unsubscribe link', async () => {
    const [mine, objecting] = [`${randomUUID()}@customer.example`, `${randomUUID()}@customer.example`];
    await objectToMails(box, objectionToken(box, org.orgId, objecting, 'all'), 'organization', new Date());
    const nameless = async (address: string) => {
      const session = await api.newSession(org, { key, body: { customer: { externalCustomerId: randomUUID() } } });
      const { body } = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
        token: session.token,
        body: { body: 'I want to talk to a person, please.' },
      });
      const socket = await connected(session);
      const told = (type: string) => Promise.resolve(socket.frames.some((frame) => frame.type === type));
      expect(socket.frames.find(({ type }) => type === 'welcome')).toMatchObject({ reachable: false });
      socket.send({ type: 'contact', email: 'no address' });
      await until(() => told('error'), 'the wrong address to be refused');
      socket.send({ type: 'contact', email: ` ${address.toUpperCase()} ` });
      await until(() => told('contact'), 'the address to be kept');
      await socket.close();
      await until(
        async () => (await PresenceModel.findById(body.conv_id).lean())?.processes.length === 0,
        'it to be known that the customer has left',
      );
      await reply(body.conv_id, 'Hello, Anna here.');
      await aMinuteLater(body.conv_id);
      return { ...session, convId: body.conv_id as string };
    };
    const one = await nameless(mine);
    expect((await sentMail(one.convId)).to.address).toBe(mine);
    const received = await until(async () => (await greenMail.mailsOf(mine))[0], 'the mail');
    const { headers, text = '' } = await PostalMime.parse(received);
    const token = objectionToken(box, org.orgId, mine, 'all');
    expect(text).toContain(`/account#mail_stop=${token}`);
    expect(headers).toContainEqual(
      expect.objectContaining({ key: 'list-unsubscribe', value: expect.stringContaining(`/objections/${token}>`) }),
    );
    expect(JSON.stringify(await deliveriesOf(one.convId))).not.toContain(token);
    const { body } = await api.request('GET', `/support/inbox/orgs/${org.orgId}/${one.convId}`, {
      token: org.owner.token,
    });
    expect(body.conversation.customer).toMatchObject({ contact_email: mine });
    expect(body.conversation.customer).not.toHaveProperty('email');
    expect(await deliveriesOf((await nameless(objecting)).convId)).toEqual([]);
  });

  it('in test mode a reply is not mailed, but stored as a suppressed delivery that members can see', async () => {
    const { convId, mail } = await mailed({ mode: 'test' });
    const { body } = await api.request('GET', `/support/outbox/orgs/${org.orgId}/deliveries?mode=test`, {
      token: org.owner.token,
    });
    const delivery = body.deliveries.find((one: { destination: string }) => one.destination === mail.to.address);
    expect(delivery).toMatchObject({ kind: 'email', status: 'suppressed', mode: 'test', attempts: [] });
    expect(delivery.request).toMatchObject({ method: 'MAIL', url: `mailto:${mail.to.address}`, body: mail.text });
    expect(delivery.request.headers).toMatchObject({
      'Message-ID': mail.message_id,
      'Reply-To': expect.stringContaining(replyDomain),
    });
    expect(convId).toBeDefined();
  });
});

describe('a customer’s mail', () => {
  it('a customer’s mail finds its conversation by the reply address or by the mail it answers', async () => {
    const { convId, email, mail } = await mailed();
    const address = mail.reply_to!.address;
    for (const recipients of [[address.toUpperCase()], [address.toLowerCase()], ['other@bank.example']]) {
      const text = `Blue, ${randomUUID()}`;
      const { status, reason } = await arrives({ ...answering(mail, email, text), recipients });
      expect([status, reason]).toEqual(['processed', undefined]);
      expect((await messagesOf(convId)).at(-1)?.body).toBe(text);
    }
  });

  it('a customer’s mail is stored with its quotes and a list of its attachments', async () => {
    const { convId, email, mail } = await mailed();
    const parts = [
      'Content-Type: text/html; charset=iso-8859-1\r\n\r\n<p>Sch\u00f6ne Gr\u00fc\u00dfe</p><blockquote type="cite">old</blockquote>',
      'Content-Type: application/pdf; name="bill.pdf"\r\nContent-Disposition: attachment; filename="bill.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=',
    ];
    const head = {
      From: email,
      To: mail.reply_to!.address,
      Subject: 'Re',
      'Content-Type': 'multipart/mixed; boundary=b',
    };
    const raw = Buffer.from(mailOf(head, `--b\r\n${parts.join('\r\n--b\r\n')}\r\n--b--`), 'latin1');
    expect((await arrives({ recipients: [mail.reply_to!.address], mail: raw, base64: true })).status).toBe('processed');
    const message = (await messagesOf(convId)).at(-1);
    expect(message).toMatchObject({ body: 'Schöne Grüße', mail: { full_text: expect.stringContaining('old') } });
    const { body } = await api.request('GET', `/support/inbox/orgs/${org.orgId}/${convId}`, { token: org.owner.token });
    expect(body.messages.at(-1).mail.attachments).toEqual([
      { filename: 'bill.pdf', mime_type: 'application/pdf', bytes: 5 },
    ]);
  });

  it('a mail that arrives twice is stored as one message', async () => {
    const { convId, email, mail } = await mailed();
    const twice = answering(mail, email, 'Only once.');
    await arrives(twice);
    await arrives(twice);
    expect((await messagesOf(convId)).filter(({ body }) => body === 'Only once.')).toHaveLength(1);
  });

  it('a mail is stored with the product type of the customer’s last message, even when the mail begins a new conversation', async () => {
    const { convId, email, mail } = await mailed();
    // An embed stores its product with each message, and the conversation has no session context.
    await MessageModel.updateOne({ conv_id: convId, role: 'customer' }, { $set: { product_type: 'personal' } });
    await arrives(answering(mail, email, 'The blue one.'));
    await arrives(answering(mail, email, 'The blue one, please.'));
    const products = (await messagesOf(convId)).flatMap(({ role, product_type }) =>
      role === 'customer' ? [product_type] : [],
    );
    expect(products).toEqual(['personal', 'personal', 'personal']);
    const { events } = await settledConversation(convId);
    const full = Array.from({ length: maxTicketEvents }, (_, index) => ({ ...events[0]!, seq: index + 1 }));
    await ConversationModel.updateOne(
      { _id: convId },
      { $set: { status: 'resolved', events: full, events_planned: maxTicketEvents } },
    );
    const text = `The green one, ${randomUUID()}`;
    await arrives(answering(mail, email, text));
    const message = await MessageModel.findOne({ org_id: org.orgId, body: text }, null, everyRecord).lean();
    expect(message).toMatchObject({ product_type: 'personal', conv_id: expect.not.stringMatching(convId) });
  });

  /** Mails with a problem change nothing, so they can all answer the same mail. */
  let problem: Awaited<ReturnType<typeof mailed>>;
  beforeAll(async () => {
    problem = await mailed();
  });
  type Case = [MailReason, (mail: OutgoingMail, email: string) => SesMail];
  it.each<Case>([
    ['automatic', (mail, email) => answering(mail, email, 'I am away.', { 'Auto-Submitted': 'auto-replied' })],
    ['automatic', (mail, email) => answering(mail, email, 'Away.', { Precedence: 'bulk' })],
    ['automatic', (mail, email) => answering(mail, email, 'Away.', { Subject: 'Automatische Antwort: Karte' })],
    ['mailing_list', (mail, email) => answering(mail, email, 'Hello all', { 'List-Id': '<all.example>' })],
    ['bounce', (mail, email) => ({ ...answering(mail, email, 'Undelivered'), source: '' })],
    ['bounce', (mail) => answering(mail, 'mailer-daemon@customer.example', 'Undelivered')],
    ['own_mail', (mail, email) => answering(mail, email, 'Round', { 'X-Support-Platform-Loop': 'conv_1' })],
    ['own_mail', (mail) => answering(mail, 'support@bank.example', 'Round')],
    ['spam', (mail, email) => ({ ...answering(mail, email, 'Buy'), verdicts: { spam: 'FAIL' } })],
    ['virus', (mail, email) => ({ ...answering(mail, email, 'Open'), verdicts: { virus: 'FAIL' } })],
    [
      'unverified_sender',
      (mail, email) => ({ ...answering(mail, email, 'x'), verdicts: { dkim: 'FAIL', dmarc: 'FAIL' } }),
    ],
    ['unverified_sender', (mail, email) => ({ ...answering(mail, email, 'x'), verdicts: { dmarc: 'FAIL' } })],
    [
      'unverified_sender',
      (mail, email) => ({ ...answering(mail, email, 'x'), verdicts: { dkim: 'GRAY', dmarc: 'GRAY' } }),
    ],
    [
      'unverified_sender',
      (mail, email) => ({
        ...answering(mail, email, 'Send me the money', {
          'Authentication-Results':
            'amazonses.com; spf=pass envelope-from="dkim=pass header.i=@customer.example"@evil.example; dkim=pass header.i=@evil.example',
          'DKIM-Signature': 'v=1; a=rsa-sha256; d=evil.example; s=s; h=from; bh=YQ==; b=YQ==',
        }),
        verdicts: { dkim: 'PASS', dmarc: 'GRAY' },
      }),
    ],
    ['not_the_customer', (mail) => answering(mail, 'mallory@customer.example', 'Send me the money')],
    ['not_the_customer', (mail, email) => answering(mail, `mallory@evil.example>, <${email}`, 'Two authors')],
    ['empty', (mail, email) => answering(mail, email, '')],
    [
      'calendar',
      (mail, email) => ({
        recipients: [mail.reply_to!.address],
        mail: mailOf(
          { From: email, Subject: 'Accepted: Card', 'Content-Type': 'text/calendar; method=REPLY; charset=utf-8' },
          'BEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR\n',
        ),
      }),
    ],
    [
      'foreign_bucket',
      (mail, email) => ({ ...answering(mail, email, 'x'), s3: { bucketName: 'other', objectKey: 'k' } }),
    ],
    ['unreadable', (mail, email) => ({ ...answering(mail, email, 'x'), mail: nested(email) })],
  ])('a mail with the problem “%s” changes nothing and is listed with the reason', async (reason, make) => {
    const { convId, email, mail } = problem;
    const before = await settledConversation(convId);
    const inbound = await arrives(make(mail, email));
    expect([inbound.status, inbound.reason]).toEqual(['ignored', mailReasons[reason]]);
    expect(await ConversationModel.findById(convId).lean()).toEqual(before);
    const { body } = await api.request('GET', `/support/inbound/orgs/${org.orgId}?provider=email`, {
      token: org.owner.token,
    });
    expect(body.inbound.find((one: { inbound_id: string }) => one.inbound_id === inbound._id)).toMatchObject({
      provider: 'email',
      status: 'ignored',
      reason: mailReasons[reason],
    });
  });

  it('a mail to a forged or unused reply address belongs to no conversation', async () => {
    const { email, mail } = await mailed();
    const [local = ''] = mail.reply_to!.address.split('@');
    const forged = `${local.slice(0, -3)}${local.endsWith('aaa') ? 'bbb' : 'aaa'}@${replyDomain}`;
    const alone = { 'In-Reply-To': '', References: '' };
    const cases: [string[], MailReason][] = [
      [[forged], 'bad_token'],
      [['reply+x@reply.bank.example'], 'bad_token'],
      [['hello@bank.example'], 'no_recipient'],
      [[mail.reply_to!.address.replace(replyDomain, 'reply.evil.example')], 'no_recipient'],
    ];
    for (const [recipients, reason] of cases) {
      const { status, org_id, reason: said } = await arrives({ ...answering(mail, email, 'Hi', alone), recipients });
      expect([status, org_id, said]).toEqual(['ignored', '', mailReasons[reason]]);
    }
  });

  it('a mail to another customer’s reply address is ignored, because its sender is not that customer', async () => {
    const { mail } = await mailed();
    const stranger = await mailed();
    const inbound = await arrives(answering(mail, stranger.email, 'Mine?'));
    expect([inbound.status, inbound.reason]).toEqual(['ignored', mailReasons.not_the_customer]);
  });
});

describe('the removal of a customer', () => {
  it('the removal of a customer deletes the customer’s deliveries, received mails, mail threads and address', async () => {
    const { mail, email, customerId, convId } = await mailed();
    expect((await arrives(answering(mail, email, 'The teal one.'))).status).toBe('processed');
    const spam = { ...answering(mail, email, 'The teal one again.'), verdicts: { spam: 'FAIL' } };
    expect((await arrives(spam)).status).toBe('ignored');
    const other = await mailed();
    const db = walked(DeliveryModel.db.db!);
    /** The collections that contain this text. */
    const holding = async (text: string): Promise<string[]> => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name);
      const hits = await Promise.all(
        names.map(async (name) => JSON.stringify(await db.collection(name).find().toArray()).includes(text) && name),
      );
      return hits.filter((name) => name !== false).toSorted();
    };
    expect(await holding(email)).toEqual(expect.arrayContaining(['customers', 'deliveries']));
    const path = `/support/customers/orgs/${org.orgId}/${customerId}`;
    const erased = await until(async () => {
      const { body } = await api.request('DELETE', path, { token: org.owner.token });
      return body.data.status !== 'erasing' && body.data;
    }, 'the customer to be removed');
    expect(erased.found).toMatchObject({ deliveries: 1, inbound: 2, mail_threads: 1 });
    const left = await Promise.all([
      db.collection('deliveries').countDocuments({ 'subject.conv_id': convId }),
      db.collection('inbound').countDocuments({ about: customerId }),
      db.collection('mail_threads').countDocuments({ customer_id: customerId }),
    ]);
    expect([left, await holding(email), await holding('The teal one')]).toEqual([[0, 0, 0], [], []]);
    for (const text of [email, 'Alice', 'The teal one']) expect([text, await inTemporal(text)]).toEqual([text, []]);
    // Later mails to the customer's reply address belong to nobody, and other customers lose nothing.
    const late = await arrives(answering(mail, email, 'Still here?'));
    expect([late.status, late.body]).toEqual(['ignored', '']);
    expect((await arrives(answering(other.mail, other.email, 'And mine?'))).status).toBe('processed');
  });
});

describe('a mail in an S3 bucket', () => {
  it('a mail in an S3 bucket is read, and a mail that is not in the bucket is reported as missing', async () => {
    const { convId, email, mail } = await mailed();
    const sent = answering(mail, email, 'From the bucket.');
    await fetch(`${objects.url}/mails`, { method: 'PUT' });
    await fetch(`${objects.url}/mails/in/a%20mail`, { method: 'PUT', body: sent.mail as string });
    const s3 = { bucketName: 'mails', objectKey: 'in/a mail' };
    expect((await arrives({ ...sent, s3 })).status).toBe('processed');
    expect((await messagesOf(convId)).at(-1)?.body).toBe('From the bucket.');
    const gone = await arrives({ ...sent, s3: { ...s3, objectKey: 'in/nothing' } });
    expect(gone.reason).toBe(mailReasons.missing);
    const setup = await arrives({ ...sent, s3: { ...s3, objectKey: 'in/AMAZON_SES_SETUP_NOTIFICATION' } });
    expect(setup.reason).toBe(mailReasons.setup);
  });
});

describe('POST /webhooks/email/inbound', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    api.request('POST', '/webhooks/email/inbound', { raw: body, headers: { ...topic.headers(body), ...headers } });
  const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString();

  it.each<[string, () => string, Record<string, string>?]>([
    ['whose text was altered', () => topic.message({}, { Message: 'other' })],
    ['whose subject was altered', () => topic.message({ Subject: 'a' }, { Subject: 'b' })],
    ['whose time was altered', () => topic.message({}, { Timestamp: new Date().toISOString() + ' ' })],
    ['of another topic', () => topic.message({ TopicArn: 'arn:aws:sns:eu-central-1:1:other' })],
    ['two hours old', () => topic.message({ Timestamp: hours(-2) })],
    ['from the future', () => topic.message({ Timestamp: hours(2) })],
    ['without a valid time', () => topic.message({ Timestamp: 'now' })],
    ['with a certificate of another host', () => topic.message({ SigningCertURL: 'https://evil.example/a.pem' })],
    [
      'with a certificate of a host that looks like Amazon’s',
      () => topic.message({ SigningCertURL: 'https://sns.eu.amazonaws.com.evil.example/a.pem' }),
    ],
    [
      'with a certificate of a bucket at Amazon',
      () => topic.message({ SigningCertURL: 'https://sns.s3.amazonaws.com.evil/a.pem' }),
    ],
    [
      'with a certificate on another port of Amazon',
      () => topic.message({ SigningCertURL: 'https://sns.us-east-1.amazonaws.com:8443/a.pem' }),
    ],
    [
      'with a certificate address that contains a user name',
      () => topic.message({ SigningCertURL: 'https://u@sns.us-east-1.amazonaws.com/a.pem' }),
    ],
    [
      'with a certificate that is no .pem',
      () => topic.message({ SigningCertURL: `${topic.url}/SimpleNotificationService.crt` }),
    ],
    ['with an expired certificate', () => topic.message({ SigningCertURL: `${topic.url}/expired.pem` })],
    ['with a certificate of another signer', () => topic.message({ SigningCertURL: `${topic.url}/foreign.pem` })],
    [
      'whose certificate address returns no certificate',
      () => topic.message({ SigningCertURL: `${topic.url}/nothing.pem` }),
    ],
    ['with a certificate that is too long', () => topic.message({ SigningCertURL: `${topic.url}/long.pem` })],
    ['whose certificate is missing', () => topic.message({ SigningCertURL: `${topic.url}/missing.pem` })],
    [
      'with a SubscribeURL elsewhere',
      () => topic.message({ Type: 'SubscriptionConfirmation', SubscribeURL: 'https://evil.example/' }),
    ],
    ['with signature version 3', () => topic.message({}, { SignatureVersion: '3' })],
    ['with a signature of version 2 that is declared as version 1', () => topic.message({}, { SignatureVersion: '1' })],
    ['without a signature', () => topic.message({}, { Signature: undefined })],
    ['with an empty signature', () => topic.message({}, { Signature: '' })],
    ['delivered raw', () => topic.message({}), { 'x-amz-sns-rawdelivery': 'true' }],
    [
      'whose header says another type',
      () => topic.message({}),
      { 'x-amz-sns-message-type': 'SubscriptionConfirmation' },
    ],
  ])('an SNS message %s is refused with 401', async (_, make, headers = {}) => {
    const { status, body } = await post(make(), headers);
    expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it.each(['', 'null', '[]', '{}', '"text"', '{"Type":"Notification"}', '\u0000', '{'.repeat(1000)])(
    'an SNS request with the body %j is refused with 401',
    async (raw) => {
      const headers = { 'content-type': 'text/plain' };
      expect((await api.request('POST', '/webhooks/email/inbound', { raw, headers })).status).toBe(401);
    },
  );

  it('an SNS message over a mebibyte is refused with 413', async () => {
    expect((await post(topic.message({ Message: 'x'.repeat(1024 * 1024) }))).status).toBe(413);
  });

  it.each(['1', '2'] as const)(
    'an SNS message with signature version %s is accepted, and is processed once even when it is repeated',
    async (SignatureVersion) => {
      const body = topic.message({ SignatureVersion, Subject: 'Ünïcode – 日本', Message: '{"größe":"ß"}' });
      expect((await post(body)).body).toEqual({ received: true, repeated: false });
      expect((await post(body)).body).toEqual({ received: true, repeated: true });
      expect(topic.asked.filter((path) => path === '/SimpleNotificationService.pem')).toHaveLength(1);
    },
  );

  it('an SNS subscription is confirmed once, even when the request for it arrives several times', async () => {
    const body = topic.message({ Type: 'SubscriptionConfirmation' });
    const confirmed = () => topic.asked.filter((path) => path.includes('ConfirmSubscription'));
    await Promise.all([post(body), post(body)]);
    await until(async () => confirmed().length > 0, 'the confirmation');
    await post(body);
    const { MessageId } = JSON.parse(body) as { MessageId: string };
    await until(
      async () =>
        (await InboundModel.findOne({ keys: `${topic.arn} ${MessageId}` }, null, everyRecord).lean())?.status ===
        'processed',
      'the confirmation to be noted',
    );
    expect(confirmed()).toHaveLength(1);
  });
});

describe('PUT /orgs/{orgId}/integrations/email', () => {
  const put = (body: object) =>
    api.request('PUT', `/orgs/${org.orgId}/integrations/email`, { token: org.owner.token, body });
  const own = (password: string) => `smtp://own%40bank.example:${password}@127.0.0.1:${greenMail.smtpPort}`;

  it('an invalid mail server address is refused, and a refusal by the server is reported in the server’s words', async () => {
    const from = 'Our Bank <own@bank.example>';
    for (const smtp_url of ['http://x.example', 'smtp://x.example?tls=off', 'smtp://x.example/path', ''])
      expect((await put({ smtp_url, from })).status).toBe(400);
    expect((await put({ smtp_url: own('secret'), from: 'two@x.example, three@x.example' })).status).toBe(400);
    const { status, body } = await put({ smtp_url: own('wrong'), from });
    expect([status, body.code]).toEqual([400, 'PROVIDER_REFUSED']);
    expect(body.error).toMatch(/535/);
  });

  it('mails are sent by the organization’s own server, in the organization’s name, until the server is disconnected', async () => {
    const { body } = await put({ smtp_url: own('secret'), from: 'Our Bank <own@bank.example>' });
    expect(body.data.integration).toMatchObject({
      provider: 'email',
      status: 'connected',
      settings: { from: 'Our Bank <own@bank.example>', server: `smtp://127.0.0.1:${greenMail.smtpPort}` },
    });
    expect(JSON.stringify(body)).not.toContain('secret');
    // No workflow's history contains the connected account, or the words with which the server has refused before.
    for (const text of ['own@bank.example', ' 5.7.8 ']) expect([text, await inTemporal(text)]).toEqual([text, []]);
    const { mail } = await mailed();
    expect(mail.from).toEqual({ name: 'Our Bank', address: 'own@bank.example' });

    // The organization can read mails that its own server sends. So an invitation sent by that server does not verify
    // the address.
    const email = `${randomUUID()}@customer.example`;
    const asked = { token: org.owner.token, body: { email, role: 'member' } };
    const invited = await api.request('POST', `/orgs/${org.orgId}/members`, asked);
    expect([invited.status, invited.body.data.link]).toEqual([202, undefined]);
    const [raw] = await until(
      async () => (await greenMail.mailsOf(email)).length > 0 && greenMail.mailsOf(email),
      'the invitation',
    );
    const { text = '' } = await PostalMime.parse(raw!);
    const token = /#invitation=([\w-]{43})$/m.exec(text)![1]!;
    const joined = { token, name: 'Newcomer', password: 'correct horse battery' };
    expect((await api.request('POST', '/auth/invitations/register', { body: joined })).status).toBe(201);
    const { members } = (await api.request('GET', `/orgs/${org.orgId}/members`, { token: org.owner.token })).body.data;
    expect(members.at(-1)).toMatchObject({ email, email_verified: false });

    await api.request('DELETE', `/orgs/${org.orgId}/integrations/email`, { token: org.owner.token });
    expect((await mailed()).mail.from.address).toBe('support@bank.example');
  });
});

describe('a mail server that sends a line now and then, and never finishes a reply', () => {
  let server: Server;
  let route: MailRoute;
  const open = new Set<Socket>();
  beforeAll(async () => {
    server = createServer((socket) => {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
      socket.write('220 mail.example ESMTP\r\n');
      socket.once('data', () => {
        const drip = setInterval(() => socket.write('250-x\r\n'), 50);
        socket.on('close', () => clearInterval(drip));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    route = { server: { secure: false, host: '127.0.0.1', port }, own: true };
  });
  afterAll(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });

  const mail: OutgoingMail = {
    from: { name: 'Bank', address: 'support@bank.example' },
    to: { name: 'Alice', address: 'alice@customer.example' },
    subject: 'Hello',
    text: 'Hello',
    date: new Date().toISOString(),
    message_id: '<1@bank.example>',
    references: [],
    headers: {},
  };
  const calls: [string, (mailer: Mailer, signal?: AbortSignal) => Promise<unknown>][] = [
    ['session to check the connection', (mailer, signal) => mailer.check(route, signal)],
    ['session to send a mail', (mailer, signal) => mailer.send(route, mail, signal)],
  ];

  it.each(calls)('a %s with a mail server that never finishes a reply ends after the time limit', async (_, call) => {
    const ended = call(createMailer({ egressAllow: [], totalTimeoutMs: 500 }));
    await expect(ended).rejects.toMatchObject({
      name: 'MailRefused',
      what: 'now',
      timedOut: true,
      message: 'The mail server did not answer in time: the session took too long',
    });
    await until(async () => open.size === 0, 'the connection to be closed');
  });

  it.each(calls)('a %s with a mail server that never finishes a reply ends when it is cancelled', async (_, call) => {
    const cancelled = new AbortController();
    const ended = call(createMailer({ egressAllow: [] }), cancelled.signal);
    const refused = expect(ended).rejects.toThrow('cancelled');
    await until(async () => open.size === 1, 'the connection');
    cancelled.abort(new Error('cancelled'));
    await refused;
    await until(async () => open.size === 0, 'the connection to be closed');
  });
});

describe('the candidate of a scheduled interview', () => {
  const soon = (hours: number): string =>
    `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 17)}00.000Z`;
  const basic = (at: string): string => at.replaceAll(/[-:]|\.000/g, '');
  const interviews = (of: TestOrg, method: string, path = '', body?: object) =>
    api.request(method, `/orgs/${of.orgId}/interviews${path}`, { token: of.owner.token, ...(body ? { body } : {}) });
  const asked = (at: string, candidate_email?: string) => ({
    role_title: 'Data Engineer',
    candidate_name: 'Ana Lee',
    scheduled_at: at,
    question_count: 3,
    ...defined({ candidate_email }),
  });

  /** Waits until an interview has `count` deliveries, none of them pending or retrying; returns them. */
  const told = (id: string, count: number): Promise<Delivery[]> =>
    until(async () => {
      const found = await DeliveryModel.find({ about: id }).sort({ 'subject.seq': 1 }).lean<Delivery[]>();
      return found.length >= count && found.every(({ status }) => !['pending', 'retrying'].includes(status)) && found;
    }, `${count} mails about ${id}`);

  /** The text and the calendar of each mail in a mailbox. The calendar is given as unfolded lines. */
  async function read(email: string) {
    const raws = await greenMail.mailsOf(email);
    return Promise.all(
      raws.map(async (raw) => {
        const { subject, text } = await PostalMime.parse(raw);
        const method = /^Content-Type: text\/calendar;[^]*?method=(\w+)/m.exec(raw)?.[1];
        const calendar = /^BEGIN:VCALENDAR$[^]*?^END:VCALENDAR$/m.exec(raw.replaceAll('\r\n', '\n'))?.[0] ?? '';
        const lines = calendar.replaceAll(/\n[ \t]/g, '').split('\n');
        const value = (name: string): string | undefined =>
          lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
        return { subject, text: text ?? '', method, lines, value };
      }),
    );
  }

  it('a candidate gets a mail with a calendar file for the scheduled time, for its change and for the cancellation', async () => {
    const [email, at] = [`${randomUUID()}@candidate.example`, soon(3)];
    const { interview_id: id, room } = (await interviews(org, 'POST', '', asked(at, email))).body.data;
    await told(id, 1);
    // A change of neither time nor address causes no mail.
    await interviews(org, 'PUT', `/${id}`, { scheduled_at: at, skills: ['SQL'] });
    const later = soon(5);
    await interviews(org, 'PUT', `/${id}`, { scheduled_at: later });
    const [first] = await told(id, 2);
    expect(first!.request).toMatchObject({ body: expect.stringContaining('/rooms/***') });
    expect(JSON.stringify(first)).not.toContain(room.candidate_url.split('/').at(-1));
    await interviews(org, 'POST', `/${id}/cancel`);
    expect((await told(id, 3)).map(({ status, mode }) => [status, mode])).toEqual(
      [1, 2, 3].map(() => ['delivered', 'live']),
    );

    const mails = await read(email);
    expect(mails.map(({ subject }) => subject?.split(':')[0])).toEqual([
      'Interview for Data Engineer at Test Organization',
      'Updated',
      'Cancelled',
    ]);
    const said = ['METHOD', 'SEQUENCE', 'DTSTART', 'STATUS', 'LOCATION'];
    expect(mails.map(({ value }) => said.map(value))).toEqual([
      ['REQUEST', '0', basic(at), 'CONFIRMED', room.candidate_url],
      ['REQUEST', '1', basic(later), 'CONFIRMED', room.candidate_url],
      ['CANCEL', '2', basic(later), 'CANCELLED', undefined],
    ]);
    expect(mails.map(({ method }) => method)).toEqual(['REQUEST', 'REQUEST', 'CANCEL']);
    expect(new Set(mails.map(({ value }) => value('UID')))).toEqual(new Set([`${id}@127.0.0.1`]));
    expect(mails[0]!.lines.at(0)).toBe('BEGIN:VCALENDAR');
    expect(mails[0]!.text).toContain(`Where: ${room.candidate_url}`);
    expect(mails[0]!.text).toMatch(/Hello Ana Lee,[^]*\(UTC\)[^]*“Test Organization” sends you this[^]*a candidate/);
  });

  it('when a candidate’s address changes, the old address gets a cancellation, and the new address an invitation', async () => {
    const at = soon(3);
    const { interview_id: id } = (await interviews(org, 'POST', '', asked(at))).body.data;
    const [old, email] = [`${randomUUID()}@candidate.example`, `${randomUUID()}@candidate.example`];
    expect(await DeliveryModel.countDocuments({ about: id })).toBe(0);
    await interviews(org, 'PUT', `/${id}`, { candidate_email: old });
    await told(id, 1);
    await interviews(org, 'PUT', `/${id}`, { candidate_email: email });
    await told(id, 3);
    expect((await read(old)).map(({ value }) => [value('METHOD'), value('SEQUENCE')])).toEqual([
      ['REQUEST', '0'],
      ['CANCEL', '1'],
    ]);
    expect((await read(email)).map(({ value }) => [value('METHOD'), value('SEQUENCE')])).toEqual([['REQUEST', '2']]);
    // The old address has no valid link into the room.
    const { room } = (await interviews(org, 'GET', `/${id}`)).body.data;
    const links = (await Promise.all([old, email].map(read))).map(([mail]) => mail!.value('LOCATION'));
    expect(links).toEqual([expect.stringContaining('/rooms/'), room.candidate_url]);
    expect(links[0]).not.toBe(links[1]);

    const testing = await api.newOrg();
    const nobody = `${randomUUID()}@candidate.example`;
    const { interview_id: tried } = (await interviews(testing, 'POST', '', asked(at, nobody))).body.data;
    const [shown] = await told(tried, 1);
    expect([shown!.status, shown!.mode, shown!.request?.url]).toEqual(['suppressed', 'test', `mailto:${nobody}`]);
    expect(await read(nobody)).toEqual([]);
  });

  it('when an interview that was created in test mode changes after the organization went live, its candidate gets a first invitation', async () => {
    const late = await api.newOrg();
    const email = `${randomUUID()}@candidate.example`;
    const ids = await Promise.all(
      [undefined, email].map(
        async (candidate): Promise<string> =>
          (await interviews(late, 'POST', '', asked(soon(3), candidate))).body.data.interview_id,
      ),
    );
    await told(ids[1]!, 1);
    await verifyEmail(late.owner.userId, late.owner.email);
    await api.goLive(late);
    await interviews(late, 'PUT', `/${ids[0]}`, { candidate_email: email });
    await interviews(late, 'PUT', `/${ids[1]}`, { scheduled_at: soon(5) });
    const both = [...(await told(ids[0]!, 1)), ...(await told(ids[1]!, 2))];
    expect(both.map(({ status, mode }) => [status, mode])).toEqual([
      ['delivered', 'live'],
      ['suppressed', 'test'],
      ['delivered', 'live'],
    ]);
    const invited = 'Interview for Data Engineer at Test Organization';
    const mails = await read(email);
    expect(mails.map(({ subject }) => subject)).toEqual([invited, invited]);
    for (const { text } of mails) expect(text).toContain('You are invited');
  });
});

describe('a worker that dies while it sends a mail', () => {
  it('when a worker dies after the server accepted a mail, the next worker sends the mail again with the same Message-ID', async () => {
    const { convId } = await customer({ email: 'killed@customer.example' });
    const [served, worker] = running as [Running, Running];
    await worker.stop();
    const sending = { ...env, FLEETS: 'deliveries,slowdeliveries' };
    // The fault hits only mails to this customer. A member whom an earlier test invited is notified of this
    // conversation too.
    const dying = await startProcess('test/kit/worker.ts', {
      ...sending,
      FAULT: 'delivery sent',
      FAULT_OF: 'mailto:killed@customer.example',
    });
    await reply(convId, 'Once or twice.');
    await aMinuteLater(convId);
    await until(async () => dying.child.signalCode !== null, 'the worker to die');
    running = [served, await startProcess('workers/main.ts', sending)];
    const { message_id } = await sentMail(convId);
    const mails = await greenMail.mailsOf('killed@customer.example');
    expect(mails.map((mail) => /^Message-ID:\s+(\S+)/m.exec(mail)?.[1])).toEqual([message_id, message_id]);
  });
});

/** A mail whose parts are nested deeper than the reader follows. */
function nested(email: string): string {
  const open = Array.from({ length: 300 }, (_, at) => `--b${at}\nContent-Type: multipart/mixed; boundary=b${at + 1}\n`);
  return mailOf({ From: email, 'Content-Type': 'multipart/mixed; boundary=b0' }, open.join('\n'));
}
