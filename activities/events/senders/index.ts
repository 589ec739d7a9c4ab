/** The senders, by the kind of destination. */
import { email } from './email.ts';
import { linear } from './linear.ts';
import { notification } from './notification.ts';
import type { Sender } from './sender.ts';
import { slack } from './slack.ts';
import { webhook } from './webhook.ts';
import type { DeliveryKind } from '../../../models/rules/events/delivery.ts';

export const senders: Readonly<Partial<Record<DeliveryKind, Sender>>> = { webhook, slack, linear, email, notification };
