/** The key by which the owner of a workspace's events is found. */
export const slackExternal = (teamId: string): string => `team:${teamId}`;
/** The id of a Slack thread, by which conversations and tasks are linked to the thread. */
export const threadExternal = (teamId: string, channel: string, ts: string): string => `${teamId}:${channel}:${ts}`;

/**
 * The bot's OAuth scopes. `users:read.email` is for matching Slack users to members by address. `im:*` is for direct
 * messages to a member about a task. The other scopes are for reading and writing in channels.
 */
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
/** With this scope Slack asks the person to choose a channel when the app is installed. */
export const slackChannelScope = 'incoming-webhook';

/** The format of ids of channels, users and workspaces. */
export const slackId = /^[A-Z0-9]{2,30}$/;

/**
 * Escapes text so that Slack shows it literally: no part becomes a mention, a channel or a link (`<!channel>`,
 * `<@U1>`).
 */
export const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack truncates messages after 40,000 characters, and recommends at most 4,000. */
export const maxSlackText = 4_000;

/** The plain text of a message: mentions and links lose their brackets, and a leading mention of the bot is removed. */
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

type Source = { name: string; url?: string };

export function slackAnswer({ answer, sources }: { answer: string; sources: readonly Source[] }): string {
  const named = sources.map(({ name, url }) =>
    url === undefined ? escapeSlack(name) : `${escapeSlack(name)} ${escapeSlack(url)}`,
  );
  const end = named.length === 0 ? '' : `\n_Sources: ${named.join('; ')}_`;
  return `${escapeSlack(answer).slice(0, maxSlackText - Math.min(end.length, 1_000))}${end.slice(0, 1_000)}`;
}

/** The subtypes of messages that people write. All other subtypes are edits, deletions or notices about the channel. */
const written: ReadonlySet<string | undefined> = new Set([undefined, 'file_share', 'thread_broadcast']);

/** Whether a person wrote the message: it is no bot's message, no edit and no deletion. */
export const isWritten = (
  { subtype, bot_id, user }: Readonly<Partial<Record<'subtype' | 'bot_id' | 'user', string | undefined>>>,
  botUserId: string | undefined,
): boolean => written.has(subtype) && bot_id === undefined && user !== undefined && user !== botUserId;

export const mentions = (text: string, userId: string): boolean =>
  text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
