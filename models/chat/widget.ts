/** How an organization's widget looks and what it says. The record is created with the first change. */
import { createHash } from 'node:crypto';
import type mongoose from 'mongoose';
import { cached } from '../base/cached.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { bytes, embedded, mixed, nullable, oneOf, optional, orElse, string } from '../rules/base/fields.ts';
import { asksForEmail, outsideHours, type Greeting, type Picture, type WidgetLanguage } from '../rules/chat/look.ts';

const picture = embedded({
  /** The media type of the picture. */
  type: string,
  content: bytes,
  /** SHA-256 of the content, hexadecimal. It is part of the picture's URL, so that browsers may cache the picture. */
  sha256: string,
});

const settings = {
  /** The accent colour, `#rrggbb`, for the light theme. */
  accent: nullable(string),
  agent_name: nullable(string),
  greetings: orElse(mixed<{ [K in WidgetLanguage]?: Greeting | undefined }>(), {}),
  ask_email: orElse(oneOf(asksForEmail), 'on_escalation'),
  outside: orElse(oneOf(outsideHours), 'show'),
};

const WidgetModel = defineModel('Widget', 'widgets', {
  /** The organization's id. */
  _id: string,
  ...settings,
  logo: optional(picture),
  avatar: optional(picture),
});
type Stored = RecordOf<typeof WidgetModel>;
export type WidgetSettings = Pick<Stored, keyof typeof settings>;
/** A widget's settings, and the hashes of its pictures without their bytes. */
export type Widget = WidgetSettings & { _id: string } & { [K in Picture]?: { sha256: string } };

const defaults: WidgetSettings = {
  accent: null,
  agent_name: null,
  greetings: {},
  ask_email: 'on_escalation',
  outside: 'show',
};

export async function findWidget(orgId: string): Promise<Widget> {
  const projection = { 'logo.content': 0, 'avatar.content': 0 };
  const stored = await collectionOf(WidgetModel).findOne({ _id: orgId }, { projection });
  return { ...defaults, _id: orgId, ...stored };
}

/**
 * The widget's settings, cached for less than a second, because every page with the widget reads them; a process sees
 * its own changes at once.
 */
export const recentWidget = cached(findWidget);

/** A picture of the widget; undefined when the organization has no such picture any more. */
export async function findWidgetPicture(
  orgId: string,
  sha256: string,
): Promise<{ type: string; content: Buffer } | undefined> {
  const stored = await collectionOf(WidgetModel).findOne({ _id: orgId });
  const found = [stored?.logo, stored?.avatar].find((one) => one?.sha256 === sha256);
  const { content } = (found ?? {}) as { content?: unknown };
  return found && { type: found.type, content: Buffer.from((content as mongoose.mongo.Binary).value()) };
}

/** Replaces all settings; the pictures stay. */
export async function setWidget(orgId: string, given: WidgetSettings): Promise<void> {
  await collectionOf(WidgetModel).updateOne({ _id: orgId }, { $set: given }, { upsert: true });
  recentWidget.forget(orgId);
}

export async function setWidgetPicture(
  orgId: string,
  name: Picture,
  given: { type: string; content: Buffer },
): Promise<void> {
  const sha256 = createHash('sha256').update(given.content).digest('hex');
  await collectionOf(WidgetModel).updateOne(
    { _id: orgId },
    { $set: { [name]: { ...given, sha256 } }, $setOnInsert: defaults },
    { upsert: true },
  );
  recentWidget.forget(orgId);
}

export async function removeWidgetPicture(orgId: string, name: Picture): Promise<void> {
  await collectionOf(WidgetModel).updateOne({ _id: orgId }, { $unset: { [name]: '' as const } });
  recentWidget.forget(orgId);
}
