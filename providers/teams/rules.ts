/** The part of a Microsoft Teams activity that this system uses. */
import { jsonIn } from '../../models/rules/base/json.ts';

export type TeamsActivity = {
  type: string;
  id: string;
  serviceUrl: string;
  channelId: string;
  text: string;
  /** The id of the customer's Microsoft tenant. */
  tenantId: string;
  conversationId: string;
  /** `from` is the author; `recipient` is the bot. */
  from: { id: string; name: string };
  recipient: { id: string; name: string };
};

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const textOf = (value: unknown, max: number): string => (typeof value === 'string' ? value.slice(0, max) : '');

const maxId = 1_000;

/** Parses a body; undefined when it is no activity. Missing fields and fields of another type are empty. */
export function readActivity(body: string): TeamsActivity | undefined {
  const parsed = jsonIn(body);
  if (!isFields(parsed)) return undefined;
  const conversation = fieldsOf(parsed['conversation']);
  const tenant = fieldsOf(fieldsOf(parsed['channelData'])['tenant']);
  const party = (value: unknown) => ({
    id: textOf(fieldsOf(value)['id'], maxId),
    name: textOf(fieldsOf(value)['name'], 200),
  });
  return {
    type: textOf(parsed['type'], 100),
    id: textOf(parsed['id'], maxId),
    serviceUrl: textOf(parsed['serviceUrl'], 2_000),
    channelId: textOf(parsed['channelId'], 100),
    text: textOf(parsed['text'], 40_000),
    // Teams puts the tenant into the channel's data; most messages repeat it in the conversation.
    tenantId: (textOf(tenant['id'], 100) || textOf(conversation['tenantId'], 100)).toLowerCase(),
    conversationId: textOf(conversation['id'], maxId),
    from: party(parsed['from']),
    recipient: party(parsed['recipient']),
  };
}

/** Maximum length of a question, in characters. */
export const maxQuestion = 2_000;

export function teamsAnswer({
  answer,
  sources,
}: {
  answer: string;
  sources: readonly { name: string; url?: string }[];
}): string {
  const listed = sources.map(({ name, url }) => (url === undefined ? name : `${name} ${url}`));
  return listed.length === 0 ? answer : `${answer}\n\n${listed.join('\n')}`;
}

const entities: Readonly<Record<string, string>> = {
  '&nbsp;': ' ',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The question in a message, without the mentions. */
export const questionIn = ({ text }: Pick<TeamsActivity, 'text'>): string =>
  text
    .replace(/<at[^<>]{0,200}>[^<>]{0,200}<\/at>/gi, ' ')
    .replace(/<[^<>]{1,1000}>/g, ' ')
    .replace(/&(?:nbsp|lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!)
    .replace(/\s+/g, ' ')
    .trim();

/** The key by which the owner of a tenant's events is found. */
export const teamsExternal = (tenantId: string): string => `tenant:${tenantId}`;

const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
/** The number of characters in a code. They give about 79 bits of entropy. */
export const codeLength = 16;

/** Makes a code with one character for each random byte. Characters that look alike are not used. */
export const codeFrom = (bytes: Uint8Array): string =>
  [...bytes.subarray(0, codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('');

/** The code in a message of the form `connect <code>`; undefined for any other message. */
export function connectCode(question: string): string | undefined {
  const code = /^connect\s+(\S+)$/i.exec(question.trim())?.[1]?.toLowerCase();
  return code?.length === codeLength ? code : undefined;
}
