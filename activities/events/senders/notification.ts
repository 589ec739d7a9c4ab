/**
 * Tells members what concerns them, by mail: by the organization's own server or the deployment's, in the name that goes with
 * it at the moment of the attempt. What is stored of such a mail never holds its token.
 */
import type { Sender, SenderDeps } from './sender.ts';
import { requestOfMail, sendByMail } from './email.ts';
import { letterOf, wordsOf, type Letter } from '../accountletter.ts';
import { routeOf, senderOf } from '../mailsettings.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import { DeliveryRefused } from '../../../models/rules/events/delivery.ts';
import { domainOf } from '../../../models/rules/events/mailbox.ts';
import { automaticHeaders, type OutgoingMail } from '../../../models/rules/events/mailout.ts';
import { hiddenLink, type NotificationPayload } from '../../../models/rules/events/notification.ts';

const payloadOf = (delivery: Delivery): NotificationPayload => delivery.payload as NotificationPayload;

const letterIn = (delivery: Delivery, { mail, clock }: SenderDeps): Promise<Letter | null> =>
  letterOf(delivery, payloadOf(delivery).account, { key: mail.tokenKey, now: clock() });

/** The mail, with its link or with what stands for it. */
async function mailOf(delivery: Delivery, letter: Letter, deps: SenderDeps, hidden?: string): Promise<OutgoingMail> {
  const { _id, org_id, created_at } = delivery;
  const { publicUrl, mail } = deps;
  const { from } = await senderOf(deps, org_id);
  const words = wordsOf(letter, { key: mail.tokenKey, publicUrl, ...(hidden === undefined ? {} : { hidden }) });
  return {
    from,
    to: letter.to,
    ...words,
    date: created_at.toISOString(),
    // The same in each attempt, so that a mail that comes twice is shown once.
    message_id: `<${_id}@${domainOf(from.address)}>`,
    references: [],
    headers: automaticHeaders(_id, false),
  };
}

export const notification: Sender = {
  separate: () => true,

  async unsendable(delivery, deps) {
    const { via } = await senderOf(deps, delivery.org_id);
    if ((await routeOf(deps, delivery.org_id, via)) === undefined) return true;
    // One that comes too late is refused by `send`.
    const letter = await letterIn(delivery, deps).catch((error: unknown) => {
      if (error instanceof DeliveryRefused) return undefined;
      throw error;
    });
    return letter === null;
  },

  async preview(delivery, deps) {
    const letter = await letterIn(delivery, deps);
    // There is nobody to write to.
    if (!letter) return { method: 'MAIL', url: `mailto:${delivery.destination}`, headers: {}, body: '' };
    return requestOfMail(await mailOf(delivery, letter, deps, hiddenLink));
  },

  async send(delivery, deps, signal) {
    const letter = await letterIn(delivery, deps);
    if (!letter) throw new DeliveryRefused('There is nobody to send it to.', { permanent: true });
    const request = requestOfMail(await mailOf(delivery, letter, deps, hiddenLink));
    const { via } = await senderOf(deps, delivery.org_id);
    const route = await routeOf(deps, delivery.org_id, via);
    if (!(await letter.prepare()))
      throw new DeliveryRefused('The account has changed meanwhile.', { request, permanent: true });
    return sendByMail(await mailOf(delivery, letter, deps), { route, request, signal }, deps);
  },
};
