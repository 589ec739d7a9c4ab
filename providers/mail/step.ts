/** Mails a task to its assignee. */
import type { Letter, SenderDeps } from '../base/sender.ts';
import type { StepCall, StepSender } from '../base/step.ts';
import { sendLetter, writeLetter } from './send.ts';
import { hasNoServer } from './settings.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { domainOf, nameOf } from '../../models/rules/access/mailbox.ts';
import { taskMail } from '../../models/rules/tasks/tasktext.ts';

function writtenOf({ task, told, email, organization, ref }: StepCall, deps: SenderDeps) {
  if (email === undefined)
    throw new DeliveryRefused('There is nobody to mail it to.', { permanent: true, nowhere: true });
  const { _id, org_id: orgId, assignee_email, created_by: account } = task;
  const id = `${_id}.${ref.executionId}`;
  const name = nameOf(organization);
  const isOutside = assignee_email !== undefined;
  const letter: Letter = {
    // The name of an assignee outside the organization is unknown.
    to: { name: isOutside ? '' : nameOf(told.assignee ?? ''), address: email },
    fromName: name,
    words: ({ from }) => taskMail(told, name || from.name || domainOf(from.address)),
    ...(isOutside
      ? { outside: { organization: name, why: 'task' as const, account, use: id } }
      : { member: { use: id } }),
  };
  return writeLetter(letter, { orgId, id, about: _id, at: deps.clock() }, deps);
}

export const email: StepSender = {
  unsendable: ({ task }, deps) => hasNoServer(task.org_id, deps),

  destination: ({ email: address = '' }) => Promise.resolve(address),

  preview: async (call, deps) => (await writtenOf(call, deps)).request,

  send: async (call, deps, signal) => sendLetter(await writtenOf(call, deps), deps, signal),
};
