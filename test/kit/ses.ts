/** The notification that Amazon SES sends about a received mail. */
import { randomUUID } from 'node:crypto';

export type SesMail = {
  recipients: string[];
  /** The envelope sender. */
  source?: string;
  verdicts?: Partial<Record<'spam' | 'virus' | 'spf' | 'dkim' | 'dmarc', string>>;
  /** The raw mail. */
  mail: string | Buffer;
  base64?: boolean;
  s3?: { bucketName: string; objectKey: string };
};

/** The notification as JSON text. */
export function sesNotification({ recipients, source, verdicts = {}, mail, base64 = false, s3 }: SesMail): string {
  const raw = Buffer.isBuffer(mail) ? mail : Buffer.from(mail);
  const head = raw.toString('utf8').split(/\r?\n\r?\n/, 1)[0] ?? '';
  const headers = head
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .map((line) => ({ name: line.slice(0, line.indexOf(':')), value: line.slice(line.indexOf(':') + 1).trim() }));
  const from = headers.find(({ name }) => name === 'From')?.value ?? '';
  const verdict = (name: keyof typeof verdicts) => ({ status: verdicts[name] ?? 'PASS' });
  return JSON.stringify({
    notificationType: 'Received',
    receipt: {
      timestamp: new Date().toISOString(),
      processingTimeMillis: 300,
      recipients,
      spamVerdict: verdict('spam'),
      virusVerdict: verdict('virus'),
      spfVerdict: verdict('spf'),
      dkimVerdict: verdict('dkim'),
      dmarcVerdict: verdict('dmarc'),
      action: s3
        ? { type: 'S3', topicArn: 'arn', ...s3 }
        : { type: 'SNS', topicArn: 'arn', encoding: base64 ? 'BASE64' : 'UTF8' },
    },
    mail: {
      timestamp: new Date().toISOString(),
      messageId: randomUUID(),
      source: source ?? /<?([^<>\s]+@[^<>\s]+?)>?$/.exec(from)?.[1] ?? '',
      destination: recipients,
      headersTruncated: false,
      headers,
      commonHeaders: { from: [from], to: recipients, subject: '' },
    },
    ...(s3 ? {} : { content: raw.toString(base64 ? 'base64' : 'utf8') }),
  });
}

/** A mail with these headers and this text. */
export const mailOf = (head: Record<string, string>, text: string): string =>
  `${Object.entries({
    Date: new Date().toUTCString(),
    'Message-ID': `<${randomUUID()}@mail.customer.example>`,
    ...head,
  })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')}\r\n\r\n${text.replace(/\r?\n/g, '\r\n')}`;
