/**
 * Frames for members only, which customers never see. They are in the frame log, too, but in separate streams. A frame
 * contains only ids and says that something changed; whoever receives the frame reads the records. So a frame that is
 * lost in a crash delays the display and loses no data.
 */
import { frameWriter } from './frame.ts';
import type { Doing } from '../rules/live/staff.ts';

export type StaffFrame =
  | { type: 'changed'; body: { conv_id: string } }
  | { type: 'viewing'; body: { conv_id: string; user_id: string; doing: Doing } }
  | { type: 'typing'; body: { conv_id: string } }
  | { type: 'told'; body: { key: string } }
  | { type: 'member'; body: { user_id: string } };

const prefix = 'staff:';
/**
 * The name of the stream of frames about a record or another subject. It contains the organization's id, because other
 * organizations may have the same subject. Each subject has its own stream, because the writers of a single stream per
 * organization would wait for each other.
 */
export const staffStream = (orgId: string, subject: string): string => `${prefix}${orgId}:${subject}`;
export const isStaffStream = (stream: string): boolean => stream.startsWith(prefix);

/** Tells the sockets of an organization's members that something changed. */
export async function tellStaff(orgId: string, frame: StaffFrame, now: Date): Promise<void> {
  const about = { changed: 'conv_id', viewing: 'conv_id', typing: 'conv_id', told: 'key', member: 'user_id' }[
    frame.type
  ];
  const stream = staffStream(orgId, (frame.body as Record<string, string>)[about]!);
  const log = { orgId, stream, keptUntil: () => ({}) };
  await frameWriter(log, () => now).append({ ...frame, transient: true });
}
