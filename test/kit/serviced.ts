/** A system that uses the emulators of services.ts as Slack, Linear and GitHub, and helpers that connect to them. */
import { afterAll, beforeAll } from '@jest/globals';
import { apiAt, type Api, type Reply, type TestOrg } from './harness.ts';
import { removeDataDir, startProcess, type Running, type SystemEnv } from './processes.ts';
import {
  githubRepository,
  linearTeam,
  slackApp,
  startGithubService,
  startLinearService,
  startSlackService,
  type Service,
} from './services.ts';

export const slackSecret = 'slack-signing-secret';

type Services = { slack: Service; linear: Service; github: Service };

export function serviced(env: (services: Services) => SystemEnv) {
  let running: Services & { env: SystemEnv; processes: Running[]; api: Api };
  beforeAll(async () => {
    const [slack, linear, github] = await Promise.all([
      startSlackService(),
      startLinearService(),
      startGithubService(),
    ]);
    const own = env({ slack, linear, github });
    const processes = await Promise.all([startProcess('api/server.ts', own), startProcess('workers/main.ts', own)]);
    running = { slack, linear, github, env: own, processes, api: apiAt(processes[0].url) };
  });
  afterAll(async () => {
    await Promise.all(running.processes.map((process) => process.stop()));
    await Promise.all([running.slack, running.linear, running.github].map((service) => service.close()));
    await removeDataDir(running.env);
  });

  const put = (org: TestOrg, provider: string, body: unknown, token = org.owner.token) =>
    running.api.request('PUT', `/orgs/${org.orgId}/integrations/${provider}`, { token, body });

  /** Goes through the consent page of Slack as a browser does, and returns the answer of the callback. */
  async function grant(
    begun: Reply,
    { keepCookie = true, answer = {} }: { keepCookie?: boolean; answer?: Record<string, string> } = {},
  ): Promise<Reply> {
    const url = new URL(begun.body.data.authorization_url);
    const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0]!;
    const [state, redirect] = [url.searchParams.get('state')!, url.searchParams.get('redirect_uri')!];
    const consent = async (): Promise<Record<string, string>> => {
      const users = await (
        await fetch(`${running.slack.url}/api/users.list`, { method: 'POST', headers: { authorization: 'Bearer x' } })
      ).json();
      const user = (users as { members: { id: string }[] }).members[0]!.id;
      const fields = { user_id: user, redirect_uri: redirect, scope: url.searchParams.get('scope')!, state };
      const allowed = await fetch(`${running.slack.url}/oauth/v2/authorize/callback`, {
        method: 'POST',
        body: new URLSearchParams({ ...fields, user_scope: '', client_id: slackApp.clientId }),
        redirect: 'manual',
      });
      const back = new URL(allowed.headers.get('location')!);
      return Object.fromEntries(back.searchParams);
    };
    const query = new URLSearchParams(Object.keys(answer).length > 0 ? { state, ...answer } : await consent());
    return running.api.request('GET', `/integrations/slack/callback?${query.toString()}`, {
      headers: keepCookie ? { cookie } : {},
    });
  }

  return {
    api: () => running.api,
    slack: () => running.slack,
    linear: () => running.linear,
    github: () => running.github,
    processes: () => running.processes,
    env: () => running.env,
    put,
    grant,
    connectSlack: async (org: TestOrg, channelId?: string): Promise<Reply> => {
      const begun = await put(org, 'slack', channelId === undefined ? {} : { channel_id: channelId });
      return grant(begun);
    },
    connectLinear: (org: TestOrg, more: Record<string, unknown> = {}): Promise<Reply> =>
      put(org, 'linear', { api_key: 'lin_api_0123456789', team_id: linearTeam.id, ...more }),
    connectGithub: (org: TestOrg, more: Record<string, unknown> = {}): Promise<Reply> =>
      put(org, 'github', { token: 'ghp_0123456789', repository: githubRepository, ...more }),
    list: async (org: TestOrg, provider?: string) => {
      const { body } = await running.api.request('GET', `/orgs/${org.orgId}/integrations`, { token: org.owner.token });
      const all = body.data.integrations as { provider: string; status: string }[];
      return provider === undefined ? all : all.filter((one) => one.provider === provider);
    },
  };
}

/** The environment variables of a system that uses these emulators. */
export const servicesEnv = ({ slack, linear, github }: Services): Record<string, string> => ({
  SLACK_CLIENT_ID: slackApp.clientId,
  SLACK_CLIENT_SECRET: slackApp.clientSecret,
  SLACK_SIGNING_SECRET: slackSecret,
  SERVICE_URLS: [
    `slack=${slack.url}/api/`,
    `slack_consent=${slack.url}/oauth/v2/authorize`,
    `linear=${linear.url}/graphql`,
    `github=${github.url}`,
  ].join(','),
  FLEETS: 'conversations,inbound,deliveries,slowdeliveries,tasks',
});
