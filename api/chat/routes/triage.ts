/** Routes by which a team sorts its conversations: tags, priority, snooze and notes. Customers see none of it. */
import { key, type TenantPrincipal } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/inbox.ts';
import { route } from '../../http/route.ts';
import { conversationOf, viewOne } from '../inbox.ts';
import { startSaved } from '../../../workflows/start.ts';
import { findOrganization } from '../../../models/access/organization.ts';
import { newId } from '../../../models/base/ids.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { ConversationModel, type Conversation } from '../../../models/chat/conversation.ts';
import { addNote, removeNote, setPriority, setTags, snooze, unsnooze, type Ref } from '../../../models/chat/triage.ts';
import { forgetReading, readUpTo } from '../../../models/chat/unread.ts';
import { tellStaff } from '../../../models/live/staff.ts';
import { hasRole } from '../../../models/rules/access/roles.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { invalid, noSuch, Problem } from '../../../models/rules/base/errors.ts';
import { snoozeEnd, tidyTags } from '../../../models/rules/chat/triage.ts';
import { noticesWork } from '../../../models/rules/chat/work.ts';

/** Makes a change, and informs the open pages of all members. @throws Problem NOT_FOUND */
async function shown(
  ctx: Context,
  principal: TenantPrincipal,
  ref: Ref,
  change: (ref: Ref, now: Date) => Promise<Conversation>,
): Promise<Conversation> {
  await conversationOf(principal, ref.convId);
  const now = ctx.clock();
  const changed = await change(ref, now);
  await tellStaff(ref.orgId, { type: 'changed', body: { conv_id: ref.convId } }, now);
  return changed;
}

/**
 * The member's user id. @throws Problem WRONG_CREDENTIAL_KIND for a key, because only a person has read positions and
 * writes notes.
 */
function person({ kind, actor }: TenantPrincipal): string {
  if (kind === 'member') return actor;
  throw new Problem('WRONG_CREDENTIAL_KIND', { message: 'Members do this; log in as one.' });
}

/**
 * The mentioned members without the author, each once. @throws Problem VALIDATION when a mentioned user is no member.
 */
async function mentioned(orgId: string, author: string, given: readonly string[]): Promise<string[]> {
  const members = new Set((await findOrganization(orgId))?.members.map(({ user_id }) => user_id));
  const strange = given.findIndex((id) => !members.has(id));
  if (strange === -1) return [...new Set(given)].filter((id) => id !== author);
  throw invalid(['body', 'mentions', strange], 'is not a member of this organization');
}

export const triageRoutes = [
  route(contract.setConversationTags, {
    summary: 'Tag a conversation; the tags that are left out are gone.',
    auth: key('support:write'),
    async handle({ params, body, principal }, ctx) {
      return viewOne(
        await shown(ctx, principal, params, (ref, now) => setTags(ref, tidyTags(body.tags), now)),
        principal,
      );
    },
  }),
  route(contract.setConversationPriority, {
    summary: 'Say how urgent a conversation is, or nothing about it.',
    auth: key('support:write'),
    async handle({ params, body: { priority }, principal }, ctx) {
      return viewOne(await shown(ctx, principal, params, (ref, now) => setPriority(ref, priority, now)), principal);
    },
  }),
  route(contract.snoozeConversation, {
    summary: 'Set a conversation aside until a time or until the customer writes; whoever has it is told then.',
    auth: key('support:write'),
    async handle({ params, body, principal }, ctx) {
      const now = ctx.clock();
      const snoozed = () => ({ by: principal.actor, ...defined({ until: snoozeEnd(body.until, now) }) });
      const intent = intentFor(noticesWork(params.orgId, { convId: params.convId }), now);
      const changed = await shown(ctx, principal, params, (ref) => snooze(ref, snoozed(), now, intent));
      await startSaved(ctx, ConversationModel, changed, [intent]);
      return viewOne(changed, principal);
    },
  }),
  route(contract.unsnoozeConversation, {
    summary: 'Take up a conversation again before its time.',
    auth: key('support:write'),
    async handle({ params, principal }, ctx) {
      return viewOne(await shown(ctx, principal, params, unsnooze), principal);
    },
  }),
  route(contract.markConversationRead, {
    summary: 'Note how far one has read oneself; it never goes back. What nobody has seen is another matter: `unread`.',
    auth: key('support:read'),
    async handle({ params: { orgId, convId }, body, principal }) {
      const { position } = await conversationOf(principal, convId);
      const read = await readUpTo(orgId, convId, person(principal), Math.min(position, body.position));
      return viewOne(read ?? (await conversationOf(principal, convId)), principal);
    },
  }),
  route(contract.markConversationUnread, {
    summary: 'Mark a conversation as unread for oneself.',
    auth: key('support:read'),
    async handle({ params: { orgId, convId }, principal }) {
      await conversationOf(principal, convId);
      const unread = await forgetReading(orgId, convId, person(principal));
      return viewOne(unread ?? (await conversationOf(principal, convId)), principal);
    },
  }),
  route(contract.addNote, {
    summary: 'Write a note for colleagues; those whom it mentions are told. Customers never see it.',
    auth: key('support:write'),
    status: 201,
    async handle({ params, body, principal }, ctx) {
      await conversationOf(principal, params.convId);
      const now = ctx.clock();
      const author = person(principal);
      const mentions = await mentioned(params.orgId, author, body.mentions ?? []);
      const note = { note_id: newId('note'), author, body: body.body.trim(), mentions, at: now };
      const intent = intentFor(noticesWork(params.orgId, { convId: params.convId }), now);
      const changed = await shown(ctx, principal, params, (ref) => addNote(ref, note, intent));
      if (mentions.length > 0) await startSaved(ctx, ConversationModel, changed, [intent]);
      return { note };
    },
  }),
  route(contract.removeNote, {
    summary: 'Remove a note: one’s own, or as an admin any.',
    auth: key('support:write'),
    async handle({ params, principal }, ctx) {
      const { notes = [] } = await conversationOf(principal, params.convId);
      const remover = person(principal);
      const note = notes.find(({ note_id }) => note_id === params.noteId);
      if (!note) throw noSuch('note');
      if (note.author !== remover && !hasRole(principal.role!, 'admin'))
        throw new Problem('MISSING_ROLE', { message: 'Only its author, an admin or an owner removes a note.' });
      return viewOne(await shown(ctx, principal, params, (ref, now) => removeNote(ref, note.note_id, now)), principal);
    },
  }),
];
