/**
 * Verifies SNS messages about mails that Amazon SES received, and finds the thread of each mail. Only topics that the
 * operator configured are accepted. The thread is found by the reply address that this system created or by the mail
 * being answered, never by the sender address.
 */
import { readSes, type SesReceived } from './ses.ts';
import type { SnsVerifier } from './sns.ts';
import { isFresh, isSnsAddress, readSnsMessage, type SnsHosts, type SnsMessage } from './snsmessage.ts';
import type { Arrival, Owner } from '../base/arrival.ts';
import { unsigned, type SignedRequest } from '../base/signing.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { findThread, findThreadOfMails, type MailThread } from '../../models/events/mailthread.ts';
import { readToken } from '../../models/events/replytoken.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { deploymentOwner } from '../../models/rules/events/inbound.ts';
import { mailReasons, type MailReason } from '../../models/rules/events/mailin.ts';
import { messageIdsIn } from '../../models/rules/events/mailout.ts';
import { tokensIn } from '../../models/rules/events/replyaddress.ts';

/** `id`: the topic's ARN. */
export type TopicSender = { id: string; message: SnsMessage };

/** `topicArns`: the topics that the operator configured. */
export type Topics = { topicArns: readonly string[]; hosts: SnsHosts; verifier: SnsVerifier };

/** @throws Problem UNAUTHENTICATED; UNAVAILABLE while Amazon's certificate cannot be fetched. */
export async function verifyMail({ headers, body, now }: SignedRequest, topics: Topics): Promise<TopicSender> {
  const { topicArns, hosts, verifier } = topics;
  if (headers['x-amz-sns-rawdelivery'] === 'true')
    throw unsigned('Raw delivery is not signed; switch it off for this subscription.');
  const message = readSnsMessage(body.toString('utf8'));
  if (!message) throw unsigned('The body must be a message of Amazon SNS.');
  const type = headers['x-amz-sns-message-type'];
  if (type !== undefined && type !== message.Type) throw unsigned('The header and the body name different types.');
  if (!topicArns.includes(message.TopicArn)) throw unsigned('SNS_TOPIC_ARNS does not name this topic.');
  if (!isFresh(message, now)) throw unsigned('The message is from more than an hour ago.');
  if (message.SubscribeURL !== undefined && !isSnsAddress(message.SubscribeURL, hosts))
    throw unsigned('SubscribeURL is not an address of Amazon SNS.');
  if (!(await isSigned(message, now, verifier)))
    throw unsigned('The signature is not made with a certificate of Amazon SNS.');
  return { id: message.TopicArn, message };
}

async function isSigned(message: SnsMessage, now: Date, verifier: SnsVerifier): Promise<boolean> {
  try {
    return await verifier.isSigned(message, now);
  } catch (error) {
    // SNS retries after a 5xx response, and gives up after a 4xx response.
    if (error instanceof HttpError) throw new Problem('UNAVAILABLE', { cause: error });
    throw error;
  }
}

/** The stored form of a notification: the mail's thread, and SES's report. */
export type StoredMail = { thread_id: string; notification: string };

/** What is needed to parse a reply address: its domain, and the secrets that sign its token. */
export type ReplyTokens = { replyDomain: string | undefined; secrets: SecretBox };

/** The verified message in the form in which it is stored, with the organization it belongs to. */
export async function mailArrival({ id: sender, message }: TopicSender, tokens: ReplyTokens): Promise<Arrival> {
  const { Type: type, MessageId, Message } = message;
  const base = { provider: 'email', sender, keys: [MessageId], type } as const;
  if (type === 'SubscriptionConfirmation') {
    const body = JSON.stringify({ subscribe_url: message.SubscribeURL });
    return { ...base, owner: deploymentOwner, lane: `sns:${sender}`, body };
  }
  if (type === 'UnsubscribeConfirmation')
    return { ...base, owner: { unknown: 'The topic sends nothing more here.' }, lane: 'sns', body: '' };
  const ses = readSes(Message);
  const found = ses ? await threadOf(ses, tokens) : 'not_a_mail';
  const owner: Owner =
    typeof found === 'string' ? { unknown: mailReasons[found] } : { orgId: found.org_id, mode: found.mode };
  const stored: StoredMail | undefined =
    typeof found === 'string' ? undefined : { thread_id: found._id, notification: Message };
  return {
    ...base,
    type: 'mail',
    owner,
    lane: typeof found === 'string' ? 'email' : `email:${found.conv_id}`,
    body: stored ? JSON.stringify(stored) : '',
  };
}

/** The thread that a mail continues, or the reason why there is none. */
async function threadOf(
  { receipt, mail }: SesReceived,
  { replyDomain, secrets }: ReplyTokens,
): Promise<MailThread | MailReason> {
  const tokens = replyDomain === undefined ? [] : tokensIn(receipt.recipients, replyDomain);
  const ids = tokens.map((token) => readToken(secrets, token)).filter((id) => id !== undefined);
  for (const id of ids) {
    const thread = await findThread(id);
    if (thread) return thread;
  }
  if (ids.length > 0) return 'expired_token';
  if (tokens.length > 0) return 'bad_token';
  const valueOf = (name: string) => mail.headers?.find((header) => header.name.toLowerCase() === name)?.value;
  const answered = [...messageIdsIn(valueOf('in-reply-to')), ...messageIdsIn(valueOf('references')).toReversed()];
  return (await findThreadOfMails(answered.slice(0, maxAnswered))) ?? 'no_recipient';
}
const maxAnswered = 50;
