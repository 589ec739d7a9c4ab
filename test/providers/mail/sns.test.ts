/**
 * Mail that arrives by a real SNS topic, which signs, asks for confirmation and delivers, and by a real S3 that stores
 * mails.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { apiAt, until, type Api, type TestOrg } from '../../kit/harness.ts';
import { box } from '../../kit/inbound.ts';
import { awsEnv, startLocalStack, type LocalStack } from '../../kit/localstack.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../../kit/processes.ts';
import { startReceiver, type Received, type Receiver } from '../../kit/receiver.ts';
import { mailOf, sesNotification } from '../../kit/ses.ts';
import { connectMongo, disconnectMongo } from '../../../models/base/connect.ts';
import { MessageModel } from '../../../models/chat/message.ts';
import { InboundModel, type Inbound } from '../../../models/events/inbound.ts';
import { provideThread } from '../../../models/events/mailthread.ts';
import { tokenOf } from '../../../models/events/replytoken.ts';
import { mailReasons } from '../../../models/rules/events/mailin.ts';
import { replyAddress } from '../../../models/rules/events/replyaddress.ts';
import { everyRecord } from '../../../models/base/define.ts';

const replyDomain = 'reply.bank.example';
/** One topic for each version of SNS signatures. */
const versions = { one: '1', two: '2' } as const;
const names = Object.keys(versions) as (keyof typeof versions)[];

let aws: LocalStack;
let env: SystemEnv;
let running: Running[];
let api: Api;
let org: TestOrg;
/** Another subscriber, which stores what a topic sends. */
let other: Receiver;

beforeAll(async () => {
  [aws, other] = await Promise.all([startLocalStack(), startReceiver()]);
  env = systemEnv('sns', {
    FLEETS: 'inbound',
    REPLY_DOMAIN: replyDomain,
    SNS_TOPIC_ARNS: names.map((name) => aws.topicArn(name)).join(','),
    INBOUND_BUCKETS: 'mails',
    SERVICE_URLS: `sns=${aws.url},s3=${aws.url}`,
    ...awsEnv,
  });
  running = await Promise.all([startProcess('api/server.ts', env), startProcess('workers/main.ts', env)]);
  api = apiAt(running[0]!.url);
  await connectMongo(env['MONGODB_URI']!);
  org = await api.newOrg();
  for (const name of names) {
    await aws.sns('CreateTopic', {
      Name: name,
      'Attributes.entry.1.key': 'SignatureVersion',
      'Attributes.entry.1.value': versions[name],
    });
    await subscribe(name, `${api.url}/v1/webhooks/email/inbound`);
  }
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await Promise.all([disconnectMongo(), other.close(), aws.close()]);
  await removeDataDir(env);
});

/** Subscribes an address and returns the ARN of the subscription. */
async function subscribe(topic: string, endpoint: string): Promise<string> {
  const fields = { TopicArn: aws.topicArn(topic), Protocol: 'http', Endpoint: endpoint, ReturnSubscriptionArn: 'true' };
  const answer = await aws.sns('Subscribe', fields);
  return /<SubscriptionArn>(arn:[^<]+)</.exec(answer)![1]!;
}

const isConfirmed = async (subscription: string): Promise<boolean> =>
  /<key>PendingConfirmation<\/key>\s*<value>false</.test(
    await aws.sns('GetSubscriptionAttributes', { SubscriptionArn: subscription }),
  );

/** The ARN of a topic's subscription with this address. */
async function subscriptionOf(topic: string, endpoint: string): Promise<string> {
  const listed = await aws.sns('ListSubscriptionsByTopic', { TopicArn: aws.topicArn(topic) });
  const one = listed.split('<member>').find((member) => member.includes(`<Endpoint>${endpoint}</Endpoint>`));
  return /<SubscriptionArn>([^<]+)</.exec(one ?? '')?.[1] ?? '';
}

/** A customer with a conversation, and the reply address of the mails to this customer. */
async function customer() {
  const email = `${randomUUID()}@customer.example`;
  const { token: key } = await api.newKey(org, { mode: 'test' });
  const { token, customerId } = await api.newSession(org, { key, body: { customer: { email, name: 'Alice' } } });
  const { body } = await api.request('POST', `/support/chat/messages/${org.orgId}`, { token, body: { body: 'Hello' } });
  const convId = body.conv_id as string;
  const ref = { org_id: org.orgId, mode: 'test', conv_id: convId, customer_id: customerId } as const;
  const thread = await provideThread(ref, new Date());
  const address = replyAddress(tokenOf(box, thread._id), replyDomain);
  const mail = mailOf(
    { From: `Alice <${email}>`, To: address, Subject: 'Re: Kärtchen', 'Content-Type': 'text/plain; charset=utf-8' },
    'Die grüne Karte, bitte.',
  );
  return { email, convId, address, mail };
}

/** Publishes this message on the topic and returns the message id. */
async function publish(topic: string, message: string): Promise<string> {
  const subject = 'Amazon SES Email Receipt Notification';
  const answer = await aws.sns('Publish', { TopicArn: aws.topicArn(topic), Message: message, Subject: subject });
  return /<MessageId>([^<]+)</.exec(answer)![1]!;
}

const processed = (topic: string, messageId: string): Promise<Inbound> =>
  until(async () => {
    const inbound = await InboundModel.findOne(
      { keys: `${aws.topicArn(topic)} ${messageId}` },
      null,
      everyRecord,
    ).lean<Inbound>();
    return inbound === null || inbound.status === 'stored' ? undefined : inbound;
  }, 'the message of the topic to be processed');

const said = async (convId: string) =>
  (await MessageModel.find({ conv_id: convId }).sort({ position: 1 }).lean()).map(({ body }) => body);

const webhook = (): string => `${api.url}/v1/webhooks/email/inbound`;

/** Passes on what a topic has sent, with another body if one is given. */
function post({ headers, body }: Received, sent = body) {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-') || name === 'content-type');
  return api.request('POST', '/webhooks/email/inbound', {
    raw: sent,
    headers: Object.fromEntries(own) as Record<string, string>,
  });
}

describe('POST /webhooks/email/inbound, called by SNS', () => {
  it.each(names)(
    'a subscription to an SNS topic is confirmed, and a mail contained in one of its messages is accepted (topic %s)',
    async (topic) => {
      const subscription = await until(async () => {
        const arn = await subscriptionOf(topic, webhook());
        return arn.startsWith('arn:') && (await isConfirmed(arn)) && arn;
      }, 'the subscription to be confirmed');
      expect(subscription).toContain(`:${topic}:`);
      const { convId, address, mail } = await customer();
      const inbound = await processed(topic, await publish(topic, sesNotification({ recipients: [address], mail })));
      expect(inbound).toMatchObject({ status: 'processed', org_id: org.orgId, mode: 'test', attempts: 1 });
      expect(await said(convId)).toEqual(['Hello', 'Die grüne Karte, bitte.']);
    },
  );

  it('a mail is fetched from S3, but only from a bucket that the settings name', async () => {
    const { convId, address, mail } = await customer();
    const objectKey = 'in/today 1/größe';
    for (const bucket of ['mails', 'others']) await aws.put(bucket, encodeURI(objectKey), mail);
    const told = async (bucketName: string, key = objectKey) => {
      const s3 = { bucketName, objectKey: key };
      return processed('two', await publish('two', sesNotification({ recipients: [address], mail, s3 })));
    };
    expect(await told('others')).toMatchObject({ status: 'ignored', reason: mailReasons.foreign_bucket });
    expect(await told('mails', 'in/nothing')).toMatchObject({ status: 'ignored', reason: mailReasons.missing });
    expect(await said(convId)).toEqual(['Hello']);
    expect(await told('mails')).toMatchObject({ status: 'processed' });
    expect(await said(convId)).toEqual(['Hello', 'Die grüne Karte, bitte.']);
  });

  it('an SNS message that was changed on the way, or delivered raw, is refused', async () => {
    // The other subscriber shows what the topic sends.
    await subscribe('two', other.url);
    const { body: asking } = await until(async () => other.received[0], 'the subscriber to be asked');
    expect((await fetch((JSON.parse(asking) as { SubscribeURL: string }).SubscribeURL)).status).toBe(200);
    const subscription = await subscriptionOf('two', other.url);
    const next = async (message: string): Promise<Received> => {
      const seen = other.received.length;
      // The API subscribes to the same topic. The test waits until the API has processed the message.
      await processed('two', await publish('two', message));
      return until(async () => other.received[seen], 'the other subscriber to be told');
    };
    const { convId, address, mail } = await customer();
    const sent = await next(sesNotification({ recipients: [address], mail }));
    const message = JSON.parse(sent.body) as Record<string, string>;
    const changes = {
      Message: message['Message']!.replace('Die grüne', 'Die rote'),
      MessageId: randomUUID(),
      Subject: 'Another subject',
      Timestamp: new Date(Date.now() - 1_000).toISOString(),
      TopicArn: aws.topicArn('one'),
    };
    for (const [field, value] of Object.entries(changes)) {
      expect(message[field]).not.toBe(value);
      const changed = JSON.stringify({ ...message, [field]: value });
      expect([field, (await post(sent, changed)).status]).toEqual([field, 401]);
    }
    // The unchanged message is a repeat of the one that SNS delivered.
    expect(await post(sent)).toMatchObject({ status: 200, body: { repeated: true } });
    expect(await said(convId)).toEqual(['Hello', 'Die grüne Karte, bitte.']);

    await aws.sns('SetSubscriptionAttributes', {
      SubscriptionArn: subscription,
      AttributeName: 'RawMessageDelivery',
      AttributeValue: 'true',
    });
    const raw = await next(sesNotification({ recipients: [address], mail }));
    expect(raw.headers['x-amz-sns-rawdelivery']).toBe('true');
    const refused = await post(raw);
    expect([refused.status, refused.body.error]).toEqual([401, expect.stringContaining('Raw delivery')]);
  });

  it('a subscription to an SNS topic that the settings do not name is not confirmed', async () => {
    await aws.sns('CreateTopic', { Name: 'foreign' });
    const answers: number[] = [];
    const onTheWay = await startReceiver(async (asked, response) => {
      const { status } = await post(asked);
      answers.push(status);
      response.writeHead(status).end();
    });
    const subscription = await subscribe('foreign', onTheWay.url);
    await until(async () => answers.length > 0, 'the request to be refused');
    expect(answers[0]).toBe(401);
    expect(await isConfirmed(subscription)).toBe(false);
    expect(await InboundModel.countDocuments({ keys: new RegExp(aws.topicArn('foreign')) }, everyRecord)).toBe(0);
    await onTheWay.close();
  });
});
