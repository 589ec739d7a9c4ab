/** Workers that die at each step of an execution: every step is done, and nothing is created twice. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { executing } from '../kit/executing.ts';
import { deathOf, startProcess, systemEnv } from '../kit/processes.ts';
import { serviced, servicesEnv } from '../kit/serviced.ts';
import { slackCall } from '../kit/services.ts';
import type { Fault } from '../kit/worker.ts';

// The workers that execute tasks are started, and killed, below.
const system = serviced((services) => systemEnv('executiondeaths', { ...servicesEnv(services), FLEETS: 'inbound' }));
let channel = '';
const { newOrg, call, newTask, ended, linearIssues, githubIssues } = executing(system, () => channel);
const program = 'test/kit/worker.ts';
const faults: readonly Fault[] = [
  'step claimed',
  'sent to linear',
  'sent to github',
  'sent to slack',
  'step settled',
  'before the execution ends',
  'execution ended',
];

beforeAll(async () => {
  const { channels } = await slackCall(system.slack(), 'conversations.list');
  channel = (channels as { id: string; name: string }[]).find(({ name }) => name === 'support')!.id;
});

describe('a worker that is killed', () => {
  it('when a worker is killed at any step of an execution, each service still gets only one issue or message', async () => {
    const org = await newOrg();
    const env = { ...system.env(), FLEETS: 'tasks' };
    const tasks = [];
    for (const fault of faults) {
      const { taskId } = await newTask(org);
      const dying = startProcess(program, { ...env, FAULT: fault, FAULT_OF: taskId });
      expect((await call(org, 'POST', `/${taskId}/execute`)).status).toBe(202);
      expect([fault, await deathOf(dying)]).toEqual([fault, 'SIGKILL']);
      tasks.push({ fault, taskId });
    }
    const last = await startProcess(program, env);
    const { messages } = await (async () => {
      for (const { fault, taskId } of tasks) {
        const { execution_status, steps } = await ended(org, taskId);
        expect([fault, execution_status, ...steps.map(({ status }) => status)]).toEqual([
          fault,
          'completed',
          'succeeded',
          'succeeded',
          'succeeded',
          'skipped',
        ]);
      }
      return slackCall(system.slack(), 'conversations.history', { channel, limit: 200 });
    })();
    for (const { fault, taskId } of tasks) {
      const posted = (messages as { text: string }[]).filter(({ text }) => text.includes(taskId));
      const [linear, github] = await Promise.all([linearIssues(taskId), githubIssues(taskId)]);
      expect([fault, linear.length, github.length, posted.length]).toEqual([fault, 1, 1, 1]);
      const { external_links: links } = (await call(org, 'GET', `/${taskId}`)).body.data;
      expect([fault, links.length]).toEqual([fault, 2]);
    }
    await last.stop();
  });
});
