/** Zod schemas of the settings of an organization's widget: its look and its texts. */
import { z } from 'zod';
import { id, line } from '../../base/contract/common.ts';
import { accentPattern } from '../../../models/rules/chat/accent.ts';
import {
  asksForEmail,
  maxAgentName,
  maxGreeting,
  maxStarter,
  maxStarters,
  outsideHours,
  pictures,
  widgetLanguages,
  type WidgetLanguage,
} from '../../../models/rules/chat/look.ts';
import { operation } from '../../base/contract/operation.ts';

const pictureParams = z.object({
  orgId: id,
  picture: id.meta({ description: pictures.map((name) => `\`${name}\``).join(' or ') }),
});

const greeting = z.strictObject({
  greeting: z.string().trim().min(1).max(maxGreeting).optional().meta({ description: 'Instead of the widget’s own.' }),
  starters: z
    .array(line(maxStarter))
    .max(maxStarters)
    .optional()
    .meta({ description: 'Questions that a customer can choose before writing one.' }),
});

const settings = {
  accent: z
    .string()
    .regex(accentPattern, 'must be a colour such as #1d57a8, in lower case')
    .nullable()
    .meta({ description: 'In the light theme; the dark one gets a lighter one of the same hue. Null: the default.' }),
  agent_name: line(maxAgentName).nullable().meta({ description: 'What the agent is called. Null: “Assistant”.' }),
  greetings: z
    .strictObject(
      Object.fromEntries(widgetLanguages.map((language) => [language, greeting.optional()])) as Record<
        WidgetLanguage,
        z.ZodOptional<typeof greeting>
      >,
    )
    .meta({ description: 'By the widget’s language.' }),
  ask_email: z.enum(asksForEmail).meta({
    description:
      'When visitors without an address are asked for one, to which replies are mailed. It proves nothing and unlocks nothing.',
  }),
  outside: z.enum(outsideHours).meta({ description: 'Whether the widget is shown outside the team’s hours.' }),
};

const widgetBody = z.strictObject(settings).partial();
const widgetReply = z.object({
  org_id: id,
  ...settings,
  logo_url: z.string().nullable(),
  avatar_url: z.string().nullable(),
});

export const getWidget = operation('getWidget', 'GET /support/widget/orgs/{orgId}', { reply: widgetReply });
export const setWidget = operation('setWidget', 'PUT /support/widget/orgs/{orgId}', {
  body: widgetBody,
  reply: widgetReply,
});
export const setWidgetPicture = operation('setWidgetPicture', 'PUT /support/widget/orgs/{orgId}/{picture}', {
  params: pictureParams,
  upload: true,
  reply: widgetReply,
});
export const removeWidgetPicture = operation('removeWidgetPicture', 'DELETE /support/widget/orgs/{orgId}/{picture}', {
  params: pictureParams,
  reply: widgetReply,
});
