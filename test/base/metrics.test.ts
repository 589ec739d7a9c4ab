/** The metrics of the system of the test run, and the alert rules and the dashboard that use them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { counters, histograms } from '../../clients/base/meter.ts';
import { queues } from '../../models/rules/base/work.ts';
import { situations } from '../../workflows/base/situations.ts';
import { apiAt, system, until } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';

const api = system();
const monitoring = (name: string): string => fileURLToPath(new URL(`../../monitoring/${name}`, import.meta.url));
const promtool = (...args: string[]) => promisify(execFile)(process.env['TEST_PROMTOOL']!, args);
const scrape = async (url: string): Promise<string> => (await fetch(url)).text();
const ofApi = () => scrape(`${api.url}/metrics`);
const ofWorker = () => scrape(process.env['TEST_WORKER_METRICS']!);

/** The sum of the samples of a metric whose labels contain `labels`. */
function sumOf(text: string, name: string, labels = ''): number {
  const lines = text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('the metrics of workers', () => {
  it('the metrics of a worker count each message and its answer, with the outcome and the time to the first words', async () => {
    const org = await api.newOrg();
    const { token } = await api.newKey(org);
    const { status, body } = await api.upload(org.orgId, token, {
      name: 'a.md',
      content: 'A gannet card costs 12 EUR.',
    });
    expect(status).toBe(201);
    await api.processed(org.orgId, token, body.document.doc_id);
    const before = await ofWorker();
    const session = await api.newSession(org);
    const asked = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
      token: session.token,
      body: { body: 'What does a gannet card cost?' },
    });
    expect(asked.status).toBeLessThan(300);
    const grown = async (name: string, labels?: string) =>
      sumOf(await ofWorker(), name, labels) - sumOf(before, name, labels);
    await until(async () => (await grown('answers_total', 'outcome="answered"')) >= 1, 'the answer to be counted');
    await until(async () => (await grown('answer_first_words_seconds_count')) >= 1, 'its time to be measured');
    expect(await grown('messages_received_total', 'mode="test"')).toBeGreaterThanOrEqual(1);
  });
});

describe('the metrics of the API', () => {
  it('the API’s metrics show the escalated conversations, the workflows, the workflow starts that wait and the backlog of task queues', async () => {
    const text = await ofApi();
    for (const name of ['conversations_escalated', 'conversations_escalated_oldest_seconds', 'intents_waiting'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    const labelled = (name: string): string[] =>
      [...text.matchAll(new RegExp(`^${name}\\{\\w+="([^"]+)"\\} \\d`, 'gm'))].map(([, label]) => label!).toSorted();
    expect(labelled('workflows_in_situation')).toEqual(situations.map(({ name }) => name).toSorted());
    expect(labelled('task_queue_backlog_tasks')).toEqual(Object.values(queues).toSorted());
    expect(labelled('task_queue_backlog_age_seconds')).toEqual(Object.values(queues).toSorted());
  });
});

describe('the metrics of quotas', () => {
  it('the metrics count organizations that use 80 % of a quota, and requests that a quota refuses', async () => {
    const env = systemEnv('quotas', { LIMITS: 'sandbox_documents=5' });
    const running = await startProcess('api/server.ts', env);
    try {
      const own = apiAt(running.url);
      for (const count of [3, 4, 6]) {
        const org = await own.newOrg();
        const { token } = await own.newKey(org);
        for (let n = 0; n < count; n += 1)
          await own.upload(org.orgId, token, { name: `${n}.md`, content: `Fact number ${n}.` });
      }
      const text = await scrape(`${own.url}/metrics`);
      expect(text).toMatch(/^organizations_near_quota\{quota="documents"\} 2$/m);
      expect(text).toMatch(/^organizations_near_quota\{quota="knowledge_pages"\} 0$/m);
      expect(text).toMatch(/^quota_refusals_total\{quota="documents"\} 1$/m);
    } finally {
      await running.stop();
      await removeDataDir(env);
    }
  });
});

describe('monitoring/', () => {
  const known = async (): Promise<Set<string>> => {
    const served = [...(await ofApi()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    const names = [...served, ...Object.keys(counters), ...Object.keys(histograms)];
    return new Set([...names, ...names.flatMap((name) => [`${name}_bucket`, `${name}_count`, `${name}_sum`])]);
  };
  /** Names of metrics in a query of PromQL: words that are neither functions nor labels. */
  const metricsIn = (query: string): string[] => [
    ...new Set(query.replaceAll(/\{[^}]*\}|(?:by|without) \([^)]*\)/g, '').match(/\b[a-z]\w*_\w+\b(?!\()/g) ?? []),
  ];

  it('promtool accepts the alert rules, and their tests pass', async () => {
    expect((await promtool('check', 'rules', monitoring('alerts.yml'))).stdout).toMatch(/SUCCESS: \d+ rules/);
    expect((await promtool('test', 'rules', monitoring('alerts.test.yml'))).stdout).toMatch(/SUCCESS/);
  });

  it('each alert uses metrics that exist, and names a section of docs/operating.md', async () => {
    const rules = parse(await readFile(monitoring('alerts.yml'), 'utf8')) as {
      groups: { rules: { alert: string; expr: string; annotations: { section: string } }[] }[];
    };
    const text = await readFile(fileURLToPath(new URL('../../docs/operating.md', import.meta.url)), 'utf8');
    const sections = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-'));
    const names = await known();
    for (const { alert, expr, annotations } of rules.groups.flatMap((group) => group.rules)) {
      const [path, section] = annotations.section.split('#');
      expect([alert, path, sections.includes(section!)]).toEqual([alert, 'docs/operating.md', true]);
      const unknown = metricsIn(expr).filter((name) => !names.has(name) && !name.startsWith('temporal_'));
      expect([alert, unknown]).toEqual([alert, []]);
    }
  });

  it('each query of the dashboard is valid and uses metrics that exist', async () => {
    const { panels } = JSON.parse(await readFile(monitoring('dashboard.json'), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const names = await known();
    expect(panels.length).toBeGreaterThan(15);
    const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    for (const expr of exprs) {
      expect([expr, metricsIn(expr).filter((name) => !names.has(name))]).toEqual([expr, []]);
      await promtool('--experimental', 'promql', 'format', expr);
    }
  });
});
