/** Creates tasks, executes them in the services of a system (serviced.ts), and waits for the results. */
import { expect } from '@jest/globals';
import { until, type TestOrg, type TestUser } from './harness.ts';
import type { serviced } from './serviced.ts';
import { githubCall, githubRepository, linearCall } from './services.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Services = { slack?: boolean; linear?: boolean; github?: boolean };
export type Step = { integration: string; status: string; attempts: number; url?: string; error?: string };
type Result = { execution_status: string; steps: Step[]; executed_at: string | null };
type LinearIssue = { id: string; title: string; description: string; priority: number; dueDate: string | null };

/**
 * `channel` is the Slack channel that organizations choose. `newOwner` is needed where not every user may own a live
 * organization.
 */
export function executing(
  system: ReturnType<typeof serviced>,
  channel: () => string,
  newOwner: () => Promise<TestUser> = () => system.api().newUser(),
) {
  async function newOrg({
    live = true,
    slack = true,
    linear = true,
    github = true,
  }: Services & { live?: boolean } = {}) {
    const own = await system.api().newOrg(await newOwner());
    if (live) await system.api().goLive(own);
    if (slack) await system.connectSlack(own, channel());
    if (linear) await system.connectLinear(own);
    if (github) await system.connectGithub(own);
    return own;
  }
  const call = (own: TestOrg, method: string, path: string, body?: unknown) =>
    system.api().request(method, `/orgs/${own.orgId}/tasks${path}`, {
      token: own.owner.token,
      ...defined({ body }),
    });
  let made = 0;
  /** A task with a unique title. */
  async function newTask(own: TestOrg, body: object = {}, more?: object) {
    const title = `Call the bank ${(made += 1)}`;
    const { status, body: created } = await call(own, 'POST', '', { title, ...body });
    expect(status).toBe(201);
    const taskId = created.data.task_id as string;
    if (more) expect((await call(own, 'PUT', `/${taskId}`, more)).status).toBe(200);
    return { taskId, title };
  }
  const resultOf = async (own: TestOrg, taskId: string): Promise<Result> =>
    (await call(own, 'GET', `/${taskId}/result`)).body.data;
  const ended = (own: TestOrg, taskId: string): Promise<Result> =>
    until(async () => {
      const result = await resultOf(own, taskId);
      return result.execution_status !== 'running' && result;
    }, 'the execution to end');
  async function execute(own: TestOrg, taskId: string): Promise<Result> {
    expect((await call(own, 'POST', `/${taskId}/execute`)).status).toBe(202);
    return ended(own, taskId);
  }
  const statuses = ({ steps }: Result) =>
    Object.fromEntries(steps.map(({ integration, status }) => [integration, status]));
  const stepOf = ({ steps }: Result, name: string): Step => steps.find(({ integration }) => integration === name)!;

  async function linearIssues(taskId: string): Promise<LinearIssue[]> {
    const query = 'query { issues(first: 250) { nodes { id title description priority dueDate } } }';
    const nodes = (await linearCall(system.linear(), query)).data.issues.nodes as LinearIssue[];
    return nodes.filter(({ description }) => description?.includes(taskId));
  }
  async function githubIssues(taskId: string): Promise<{ number: number; title: string; body: string }[]> {
    const path = `/repos/${githubRepository}/issues?state=all&per_page=100`;
    const issues = (await githubCall(system.github(), 'GET', path)) as {
      number: number;
      title: string;
      body: string;
    }[];
    return issues.filter(({ body }) => body?.includes(taskId));
  }
  return { newOrg, call, newTask, resultOf, ended, execute, statuses, stepOf, linearIssues, githubIssues };
}
