import { email } from '../../../providers/mail/send.ts';
import { linear } from '../../../providers/linear/send.ts';
import { notification } from './notification.ts';
import type { DeliverySender } from '../../../providers/base/sender.ts';
import { slack } from '../../../providers/slack/send.ts';
import { webhook } from '../../../providers/webhook/send.ts';
import type { DeliveryKind } from '../../../models/rules/events/delivery.ts';

export const senders: Readonly<Partial<Record<DeliveryKind, DeliverySender>>> = {
  webhook,
  slack,
  linear,
  email,
  notification,
};
