/** Mails a task to whoever is to do it, by the organization's server or the deployment's. Every attempt has one `Message-ID`. */
import { StepRefused, StepSkipped, type StepCall, type StepRunner } from '../base/step.ts';
import { requestOfMail } from './send.ts';
import { routeOf, senderOf, type MailVia } from './settings.ts';
import { admit, inFrame } from './outside.ts';
import { MailRefused } from './client.ts';
import { domainOf, nameOf } from '../../models/rules/access/mailbox.ts';
import { automaticHeaders, type OutgoingMail } from '../../models/rules/events/mailout.ts';
import { outsideRefusals } from '../../models/rules/events/outsidemail.ts';
import { taskMail } from '../../models/rules/tasks/tasktext.ts';

async function mailOf({
  task,
  told,
  email,
  organization,
  ref,
  deps,
}: StepCall): Promise<{ mail: OutgoingMail; shown: OutgoingMail; via: MailVia }> {
  if (email === undefined) throw new StepSkipped('There is nobody to mail it to.');
  const { from, via } = await senderOf(deps, task.org_id);
  const name = nameOf(organization);
  const { subject, text } = taskMail(told, name === '' ? from.name || domainOf(from.address) : name);
  const mail: OutgoingMail = {
    from: from.name === '' ? { ...from, name } : from,
    // Of somebody outside only the address is known.
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

export const email: StepRunner = {
  async unsendable(call) {
    const { via } = await senderOf(call.deps, call.task.org_id);
    return (await routeOf(call.deps, call.task.org_id, via)) === undefined;
  },

  async preview(call) {
    const { shown } = await mailOf(call);
    return { destination: shown.to.address, request: requestOfMail(shown) };
  },

  async send(call) {
    const { mail, via } = await mailOf(call);
    const route = await routeOf(call.deps, call.task.org_id, via);
    if (!route) throw new StepRefused('No mail server is configured.', { permanent: true });
    const { task, ref, deps } = call;
    if (task.assignee_email !== undefined) {
      const use = `${task._id}.${ref.executionId}`;
      const outside = { orgId: task.org_id, address: mail.to.address, account: task.created_by, use };
      const refusal = await admit(outside, route, deps);
      if (refusal) throw new StepRefused(outsideRefusals[refusal], { permanent: true });
    }
    try {
      await deps.mailer.send(route, mail, call.signal);
      return {};
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      const { message, what } = error;
      if (what === 'credentials') await route.refused?.(message);
      throw new StepRefused(message, { permanent: what !== 'now', cause: error });
    }
  },
};
