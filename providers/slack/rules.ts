/** Rules of Slack: what is asked for when it is connected, and how texts travel. Pure. */

/** Whose the events of a workspace are. */
export const slackExternal = (teamId: string): string => `team:${teamId}`;
/** What stands for a thread in links. */
export const threadExternal = (teamId: string, channel: string, ts: string): string => `${teamId}:${channel}:${ts}`;

/** What the bot may do. `users:read.email` tells members apart, `im:*` tell one of them of a task; the others
 * are for reading and writing in channels. */
export const slackScopes = [
  'app_mentions:read',
  'channels:history',
  'channels:join',
  'channels:read',
  'chat:write',
  'chat:write.public',
  'commands',
  'groups:history',
  'groups:read',
  'im:history',
  'im:write',
  'users:read',
  'users:read.email',
] as const;
/** Has Slack ask for a channel while it is connected. */
export const slackChannelScope = 'incoming-webhook';

/** How Slack names channels, users and workspaces. */
export const slackId = /^[A-Z0-9]{2,30}$/;

/** Text that Slack shows as it is: nothing in it becomes a mention, a channel or a link (`<!channel>`, `<@U1>`). */
export const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack cuts a message at 40,000 characters, and shows at most 4,000 well. */
export const maxSlackText = 4_000;

/** Plain text of a message: mentions and links lose their brackets, a bot's name at the beginning goes. */
export function plainSlack(text: string, botUserId?: string): string {
  const shown = (_match: string, inner: string): string => {
    const [target = '', label] = inner.split('|', 2);
    if (/^@[A-Z0-9]+$/.test(target)) return botUserId === target.slice(1) ? '' : `@${label ?? target.slice(1)}`;
    if (/^#[A-Z0-9]+$/.test(target)) return `#${label ?? target.slice(1)}`;
    if (target.startsWith('!')) return `@${target.slice(1).split('^')[0]}`;
    return label === undefined || label === target ? target.replace(/^mailto:/, '') : `${label} (${target})`;
  };
  return text
    .replace(/<([^<>]{1,2000})>/g, shown)
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}

/** Where an answer comes from. */
type Source = { name: string; url?: string };

/** An answer of the knowledge base as Slack shows it. */
export function slackAnswer({ answer, sources }: { answer: string; sources: readonly Source[] }): string {
  const named = sources.map(({ name, url }) =>
    url === undefined ? escapeSlack(name) : `${escapeSlack(name)} ${escapeSlack(url)}`,
  );
  const end = named.length === 0 ? '' : `\n_Sources: ${named.join('; ')}_`;
  return `${escapeSlack(answer).slice(0, maxSlackText - Math.min(end.length, 1_000))}${end.slice(0, 1_000)}`;
}

/** Kinds of messages that people write; all others are changes of messages, or speak of the channel. */
const written: ReadonlySet<string | undefined> = new Set([undefined, 'file_share', 'thread_broadcast']);

/** Whether a person wrote it, now: not a bot, no edit, no removal. */
export const isWritten = (
  { subtype, bot_id, user }: Readonly<Partial<Record<'subtype' | 'bot_id' | 'user', string | undefined>>>,
  botUserId: string | undefined,
): boolean => written.has(subtype) && bot_id === undefined && user !== undefined && user !== botUserId;

/** Whether the text speaks to this user. */
export const mentions = (text: string, userId: string): boolean =>
  text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
