/**
 * Mails a task to its assignee, by the organization's mail server or the deployment's. All attempts share one
 * `Message-ID`.
 */
import type { SenderDeps } from '../base/sender.ts';
import type { StepCall, StepSender } from '../base/step.ts';
import { requestOfMail, sendByMail } from './send.ts';
import { routeOf, senderOf, type MailVia } from './settings.ts';
import { admit, inFrame } from './outside.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { domainOf, nameOf } from '../../models/rules/access/mailbox.ts';
import { automaticHeaders, type OutgoingMail } from '../../models/rules/events/mailout.ts';
import { taskMail } from '../../models/rules/tasks/tasktext.ts';

async function mailOf(
  { task, told, email, organization, ref }: StepCall,
  deps: SenderDeps,
): Promise<{ mail: OutgoingMail; shown: OutgoingMail; via: MailVia }> {
  if (email === undefined)
    throw new DeliveryRefused('There is nobody to mail it to.', { permanent: true, nowhere: true });
  const { from, via } = await senderOf(deps, task.org_id);
  const name = nameOf(organization);
  const { subject, text } = taskMail(told, name === '' ? from.name || domainOf(from.address) : name);
  const mail: OutgoingMail = {
    from: from.name === '' ? { ...from, name } : from,
    // The name of an assignee outside the organization is unknown.
    to: { name: task.assignee_email === undefined ? nameOf(told.assignee ?? '') : '', address: email },
    subject,
    text,
    date: deps.clock().toISOString(),
    message_id: `<${task._id}.${ref.executionId}@${domainOf(from.address)}>`,
    references: [],
    headers: automaticHeaders(task._id, false),
  };
  if (task.assignee_email === undefined) return { mail, shown: mail, via };
  const about = { orgId: task.org_id, organization: name === '' ? domainOf(from.address) : name, why: 'task' } as const;
  return {
    mail: inFrame(mail, about, deps, { shown: false }),
    shown: inFrame(mail, about, deps, { shown: true }),
    via,
  };
}

export const email: StepSender = {
  async unsendable({ task }, deps) {
    const { via } = await senderOf(deps, task.org_id);
    return (await routeOf(deps, task.org_id, via)) === undefined;
  },

  destination: ({ email: address = '' }) => Promise.resolve(address),

  preview: async (call, deps) => requestOfMail((await mailOf(call, deps)).shown),

  async send(call, deps, signal) {
    const { mail, shown, via } = await mailOf(call, deps);
    const request = requestOfMail(shown);
    const { task, ref } = call;
    const route = await routeOf(deps, task.org_id, via);
    if (task.assignee_email !== undefined && route) {
      const use = `${task._id}.${ref.executionId}`;
      const outside = { orgId: task.org_id, address: mail.to.address, account: task.created_by, use };
      await admit(outside, route, request, deps);
    }
    return sendByMail(mail, { route, request, signal }, deps);
  },
};
