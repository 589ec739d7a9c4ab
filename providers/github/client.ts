/**
 * The part of GitHub's REST API that tasks need: repositories and issues. GitHub takes no idempotency key for a new
 * issue. So a retry first searches the issues for a marker in their text.
 */
import { askService } from '../../clients/http/askservice.ts';
import { headerOf, type Http, type HttpResponse } from '../../clients/http/http.ts';
import { ServiceError } from '../../clients/http/serviceerror.ts';
import type { HttpMethod } from '../../models/rules/base/http.ts';

export class GithubError extends ServiceError {
  override readonly name = 'GithubError';

  /**
   * Whether GitHub says that the issue was deleted. Status 404 does not prove that: GitHub also answers 404 when the
   * token may not read the repository. Status 410 alone does not prove it either, because GitHub also answers 410 while
   * issues are turned off in the repository.
   */
  get deleted(): boolean {
    return this.status === 410 && !/disabled/i.test(this.message);
  }
}

export type GithubRepository = {
  id: number;
  full_name: string;
  owner: { login: string };
  /** False when issues are turned off in the repository. */
  has_issues?: boolean;
  archived?: boolean;
  private?: boolean;
  /** The rights of the token's owner in the repository. GitHub does not send them for every kind of token. */
  permissions?: Partial<Record<'admin' | 'maintain' | 'push' | 'triage' | 'pull', boolean>>;
};
export type GithubIssue = {
  id: number;
  number: number;
  html_url: string;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  state_reason?: string | null;
  /** GitHub also lists pull requests as issues; only pull requests have this field. */
  pull_request?: unknown;
};
export type GithubIssueText = { title: string; body: string };
export type GithubIssueChange = Partial<GithubIssueText> & {
  state?: 'open' | 'closed';
  state_reason?: 'completed' | 'not_planned' | 'reopened';
};

export type Github = ReturnType<typeof createGithub>;

const github = { service: 'GitHub', Failure: GithubError };
const perPage = 100;
/** This is large enough for one page of issues with texts of GitHub's maximum length. */
const maxReplyBytes = 10 * 1024 * 1024;
/** The search for a marker reads at most this many pages. */
const maxPages = 20;

/**
 * `url`: the API's URL without a trailing `/`. Each call takes its token, so that one client serves all organizations.
 */
export function createGithub({ http, url }: { http: Http; url: string }) {
  async function ask<T>(
    token: string,
    method: HttpMethod,
    path: string,
    body: object | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { reply, said } = await askService(http, github, `${url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
      maxBytes: maxReplyBytes,
      signal,
    });
    if (reply.status >= 200 && reply.status < 300 && said !== undefined) return said as T;
    throw refusalOf(reply, said);
  }

  return {
    url,
    /** The name of the account that owns the token. Undefined for a token that belongs to no user. */
    async login(token: string, signal?: AbortSignal): Promise<string | undefined> {
      try {
        return (await ask<{ login: string }>(token, 'GET', '/user', undefined, signal)).login;
      } catch (error) {
        if (error instanceof GithubError && error.status === 403 && error.permanent) return undefined;
        throw error;
      }
    },
    /** `name` has the form `owner/name`. */
    async repository(token: string, name: string, signal?: AbortSignal): Promise<GithubRepository> {
      return ask(token, 'GET', `/repos/${name}`, undefined, signal);
    },
    /** The request that `createIssue` sends, without the token. */
    request: (repository: string, issue: GithubIssueText) => ({
      url: `${url}/repos/${repository}/issues`,
      headers,
      body: JSON.stringify(issue),
    }),
    async createIssue(
      token: string,
      repository: string,
      issue: GithubIssueText,
      signal?: AbortSignal,
    ): Promise<GithubIssue> {
      return ask(token, 'POST', `/repos/${repository}/issues`, issue, signal);
    },
    async issue(token: string, repository: string, number: number, signal?: AbortSignal): Promise<GithubIssue> {
      return ask(token, 'GET', `/repos/${repository}/issues/${number}`, undefined, signal);
    },
    async updateIssue(
      token: string,
      repository: string,
      number: number,
      change: GithubIssueChange,
      signal?: AbortSignal,
    ): Promise<GithubIssue> {
      return ask(token, 'PATCH', `/repos/${repository}/issues/${number}`, change, signal);
    },
    /**
     * The issue whose text contains the marker, among issues changed since `since`. Reads the list of issues, because
     * GitHub's search index lags behind.
     */
    async findByMark(
      token: string,
      repository: string,
      mark: string,
      since: Date,
      signal?: AbortSignal,
    ): Promise<GithubIssue | undefined> {
      const asked = { state: 'all', sort: 'created', direction: 'desc', since: since.toISOString() };
      for (let page = 1; page <= maxPages; page += 1) {
        const query = new URLSearchParams({ ...asked, per_page: String(perPage), page: String(page) });
        const path = `/repos/${repository}/issues?${query.toString()}`;
        const issues = await ask<GithubIssue[]>(token, 'GET', path, undefined, signal);
        const found = issues.find(({ body, pull_request }) => pull_request === undefined && body?.includes(mark));
        if (found) return found;
        if (issues.length < perPage) return undefined;
      }
      // The issue may be on a later page, so creating it could create a duplicate.
      throw new GithubError('GitHub has too many issues that changed lately to tell whether this one was made.');
    },
  };
}

const headers = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
} as const;

function refusalOf({ status, headers: replied }: HttpResponse, said: unknown): GithubError {
  const word = (said as { message?: unknown } | undefined)?.message;
  const message = `GitHub says: ${(typeof word === 'string' ? word : `status ${status}`).slice(0, 300)}`;
  const limited = isLimited(status, replied, message);
  // A reply without GitHub's `message`, such as an HTML page or an empty body, may come from something in between. Its
  // status does not show what GitHub did with the request, so the error is the same as for a request without a reply.
  if (typeof word !== 'string' && !limited) return new GithubError(message);
  if (status >= 300 && status < 400)
    return new GithubError('GitHub says: the repository has moved; connect it by its new name.', {
      status,
      permanent: true,
    });
  const refused = status !== 408 && status < 500;
  return new GithubError(message, {
    status,
    unauthorized: status === 401,
    permanent: refused && !limited && status !== 401,
    retryAfterMs: limited ? waitOf(replied) : undefined,
  });
}

/** GitHub reports rate limiting with status 429 or 403. */
const isLimited = (status: number, replied: HttpResponse['headers'], message: string): boolean =>
  status === 429 ||
  (status === 403 &&
    (headerOf(replied, 'retry-after') !== undefined ||
      headerOf(replied, 'x-ratelimit-remaining') === '0' ||
      /rate limit/i.test(message)));

/** How long GitHub asks to wait, in ms. GitHub gives seconds, or a time on its own clock. */
function waitOf(replied: HttpResponse['headers']): number | undefined {
  const seconds = Number(headerOf(replied, 'retry-after'));
  if (seconds > 0) return seconds * 1000;
  if (headerOf(replied, 'x-ratelimit-remaining') !== '0') return undefined;
  const until = Number(headerOf(replied, 'x-ratelimit-reset')) * 1000;
  const ms = until - Date.parse(headerOf(replied, 'date') ?? '');
  return ms > 0 ? ms : undefined;
}
