/** Routes of the settings of an organization's widget: its look and its texts. */
import { readFile } from 'node:fs/promises';
import { member } from '../../access/auth.ts';
import * as contract from '../contract/widget.ts';
import { pictureUrl } from '../look.ts';
import { route } from '../../http/route.ts';
import {
  findWidget,
  removeWidgetPicture,
  setWidget,
  setWidgetPicture,
  type Widget,
} from '../../../models/chat/widget.ts';
import { isReadable, readable } from '../../../models/rules/chat/accent.ts';
import { maxPictureBytes, pictures, pictureType, type Picture } from '../../../models/rules/chat/look.ts';
import { invalid, Problem } from '../../../models/rules/base/errors.ts';

/** The organization's stored widget settings, as these routes return them. */
const view = async (orgId: string) => viewOf(await findWidget(orgId));
const viewOf = ({ _id, accent, agent_name, greetings, ask_email, outside, logo, avatar }: Widget) => ({
  org_id: _id,
  accent,
  agent_name,
  greetings,
  ask_email,
  outside,
  logo_url: pictureUrl(_id, logo),
  avatar_url: pictureUrl(_id, avatar),
});

/** @throws Problem NOT_FOUND */
function pictureOf(name: string): Picture {
  const found = pictures.find((one) => one === name);
  if (!found) throw new Problem('NOT_FOUND', { message: `The widget has these pictures: ${pictures.join(', ')}.` });
  return found;
}

/** @throws Problem VALIDATION when text in this colour is hard to read. */
function checkAccent(accent: string): void {
  if (isReadable(accent, 'light')) return;
  const nearest = readable(accent, 'light');
  throw invalid(
    ['body', 'accent'],
    `has a contrast below 4.5:1, so that its text is hard to read; the nearest that passes is ${nearest}`,
  );
}

export const widgetRoutes = [
  route(contract.getWidget, {
    summary: 'How the chat widget looks and what it says.',
    auth: member(),
    handle: ({ principal: { orgId } }) => view(orgId),
  }),
  route(contract.setWidget, {
    summary: 'Set how the chat widget looks and what it says; what is left out becomes the default. Pictures stay.',
    auth: member('admin'),
    async handle({ body, principal: { orgId } }) {
      const { accent = null, greetings = {}, ask_email = 'on_escalation', outside = 'show' } = body;
      if (accent !== null) checkAccent(accent);
      const agent_name = body.agent_name?.trim() ?? null;
      await setWidget(orgId, { accent, agent_name, greetings, ask_email, outside });
      return view(orgId);
    },
  }),
  route(contract.setWidgetPicture, {
    summary: 'Set the logo in the widget’s title, or the agent’s picture beside its answers: a PNG, JPEG or WebP file.',
    auth: member('admin'),
    maxBytes: maxPictureBytes,
    errors: ['CONFLICT', 'UNSUPPORTED_FILE_TYPE', 'TOO_LARGE'],
    async handle({ params, file, principal: { orgId } }) {
      const picture = pictureOf(params.picture);
      const content = await readFile(file.path);
      const type = pictureType(content);
      if (!type) throw new Problem('UNSUPPORTED_FILE_TYPE', { message: 'This is no PNG, JPEG or WebP picture.' });
      await setWidgetPicture(orgId, picture, { type, content });
      return view(orgId);
    },
  }),
  route(contract.removeWidgetPicture, {
    summary: 'Remove the logo or the agent’s picture.',
    auth: member('admin'),
    async handle({ params, principal: { orgId } }) {
      await removeWidgetPicture(orgId, pictureOf(params.picture));
      return view(orgId);
    },
  }),
];
