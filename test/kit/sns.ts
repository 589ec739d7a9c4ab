/**
 * A local topic of Amazon SNS. It signs messages with a real key, serves the certificate, and accepts confirmations.
 */
import { createSign, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { selfSigned } from './certificate.ts';
import { listening } from './listening.ts';
import type { SnsMessage } from '../../providers/mail/snsmessage.ts';

export type Topic = {
  arn: string;
  url: string;
  /** The requested paths. */
  asked: string[];
  /** A signed message in the format of Amazon. `change` alters it after signing. */
  message(fields: Partial<SnsMessage>, change?: Partial<Record<keyof SnsMessage, unknown>>): string;
  /** The HTTP headers of a message. */
  headers(body: string): Record<string, string>;
  close(): Promise<void>;
};

/**
 * The signed fields in order, according to Amazon's documentation. They are repeated here so that the test does not
 * depend on the list of the product.
 */
const signed = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;

export async function startTopic(): Promise<Topic> {
  const { cert, key } = selfSigned(['sns.test'], { rsa: true });
  const expired = selfSigned(['sns.test'], { rsa: true, expired: true });
  const foreign = selfSigned(['sns.test'], { rsa: true });
  const files: Record<string, string> = {
    '/SimpleNotificationService.pem': cert,
    '/expired.pem': expired.cert,
    '/foreign.pem': foreign.cert,
    '/nothing.pem': 'no certificate',
    '/long.pem': 'x'.repeat(100_000),
  };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const file = files[path];
    if (path.startsWith('/?Action=ConfirmSubscription')) response.end('<ConfirmSubscriptionResponse/>');
    else if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  const { url, close } = await listening(server);
  const arn = `arn:aws:sns:eu-central-1:123456789012:mail-${randomUUID().slice(0, 8)}`;
  return {
    arn,
    url,
    asked,
    message(fields, change = {}) {
      const type = fields.Type ?? 'Notification';
      const confirmation = { Token: 'f'.repeat(64), SubscribeURL: `${url}/?Action=ConfirmSubscription&Token=f` };
      const message = {
        Type: type,
        MessageId: randomUUID(),
        TopicArn: arn,
        Message: 'text',
        Timestamp: new Date().toISOString(),
        SignatureVersion: '2',
        SigningCertURL: `${url}/SimpleNotificationService.pem`,
        ...(type === 'Notification' ? {} : confirmation),
        ...fields,
      } as Record<string, string>;
      const text = signed[type].flatMap((name) => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`]));
      const algorithm = message['SignatureVersion'] === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
      const signature = createSign(algorithm).update(text.join(''), 'utf8').sign(key, 'base64');
      return JSON.stringify({ ...message, Signature: signature, ...change });
    },
    headers: (body) => {
      const { Type, MessageId, TopicArn } = JSON.parse(body) as SnsMessage;
      return {
        'content-type': 'text/plain; charset=UTF-8',
        'x-amz-sns-message-type': Type,
        'x-amz-sns-message-id': MessageId,
        'x-amz-sns-topic-arn': TopicArn,
      };
    },
    close,
  };
}
