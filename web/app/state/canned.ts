/** Canned replies: the member's own replies, and those that all members share. */
import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { listCannedReplies, type CannedReply } from '../../../api/chat/contract/cannedreplies.ts';
import { orgId } from './session.ts';
import { attempt } from './toast.ts';

export const canned = signal<readonly CannedReply[]>([]);

export const readCanned = (): Promise<boolean> =>
  attempt(async () => {
    const { replies } = await call(listCannedReplies, { params: { orgId: orgId.value } });
    canned.value = replies;
  });
