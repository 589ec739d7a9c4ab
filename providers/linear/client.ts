/**
 * The part of Linear's GraphQL API that tickets and tasks need. Linear's own library is not used: it fetches models
 * with hundreds of fields, and its connections would bypass the checks in clients/http.
 */
import { askService } from '../../clients/http/askservice.ts';
import { headerOf, type Http } from '../../clients/http/http.ts';
import { ServiceError, type ServiceFailure } from '../../clients/http/serviceerror.ts';

export class LinearError extends ServiceError {
  override readonly name = 'LinearError';
  /** Whether the request contained a field that Linear's schema does not have. */
  readonly unknownField: boolean;
  /**
   * Whether Linear says that a record which the request names does not exist. Other permanent errors do not say whether
   * it exists.
   */
  readonly missing: boolean;

  constructor(
    message: string,
    {
      unknownField = false,
      missing = false,
      ...about
    }: ServiceFailure & { unknownField?: boolean; missing?: boolean } = {},
  ) {
    super(message, about);
    this.unknownField = unknownField;
    this.missing = missing;
  }
}

export type LinearState = { id: string; name: string; type: string };
export type LinearIssue = {
  id: string;
  identifier: string;
  url: string;
  /** The time of the last change, in ISO 8601. */
  updatedAt: string;
  title: string;
  priority: number;
  /** A date, `YYYY-MM-DD`. */
  dueDate: string | null;
  /** The issue's text, in Markdown. */
  description: string | null;
  state: LinearState;
};
export type NewIssue = {
  /** The caller may choose the id, so that a retry creates no second issue. */
  id?: string;
  teamId: string;
  title: string;
  /** The issue's text, in Markdown. */
  description: string;
  /** The priority: 0 none, 1 urgent, 2 high, 3 medium, 4 low. */
  priority?: number;
  /** A date, `YYYY-MM-DD`. */
  dueDate?: string;
  assigneeId?: string;
};

/** The fields of an issue that change; a missing field stays unchanged. */
export type IssueChange = Partial<Pick<NewIssue, 'title' | 'description' | 'priority'>> & {
  stateId?: string;
  dueDate?: string | null;
};

const issueFields = 'id identifier url updatedAt title priority dueDate description state { id name type }';

/** Every GraphQL document that is sent, by name. */
export const documents = {
  account:
    'query Account($team: String!) { viewer { id name } organization { id name urlKey } team(id: $team) { id key name } }',
  state: 'query State($id: String!) { workflowState(id: $id) { id name type } }',
  states: 'query States($team: String!) { team(id: $team) { states(first: 100) { nodes { id name type position } } } }',
  issue: `query Issue($id: String!) { issue(id: $id) { ${issueFields} } }`,
  comments: 'query Comments($id: String!) { issue(id: $id) { comments(first: 100) { nodes { id body } } } }',
  newest:
    'query Newest($after: String) { issues(first: 250, after: $after) { nodes { id description } pageInfo { hasNextPage endCursor } } }',
  createIssue: `mutation CreateIssue($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${issueFields} } } }`,
  updateIssue: `mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success issue { ${issueFields} } } }`,
  comment: 'mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id } } }',
} as const;

export type LinearAccount = {
  viewer: { id: string; name: string };
  organization: { id: string; name: string; urlKey: string };
  team: { id: string; key: string; name: string } | null;
};

export type Linear = ReturnType<typeof createLinear>;

const linear = { service: 'Linear', Failure: LinearError };
const maxReplyBytes = 1024 * 1024;
/** The search for a marker reads at most this many pages of 250 issues, Linear's largest page. */
const markedPages = 4;

/** `url`: the GraphQL endpoint. Each call takes its API key, so that one client serves all organizations. */
export function createLinear({ http, url }: { http: Http; url: string }) {
  async function ask<T>(
    key: string,
    name: keyof typeof documents,
    variables: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { reply, said } = await askService(http, linear, url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: authorization(key) },
      body: { query: documents[name], variables },
      maxBytes: maxReplyBytes,
      signal,
    });
    const refusal = refusalOf(reply.status, said, headerOf(reply.headers, 'retry-after'));
    if (refusal) throw refusal;
    return (said as Said).data as T;
  }

  return {
    url,
    /** The key's account, its workspace and the team. @throws LinearError, also when the team does not exist. */
    async account(key: string, teamId: string, signal?: AbortSignal): Promise<LinearAccount> {
      return ask<LinearAccount>(key, 'account', { team: teamId }, signal);
    },
    async state(key: string, id: string, signal?: AbortSignal): Promise<LinearState | null> {
      const { workflowState } = await ask<{ workflowState: LinearState | null }>(key, 'state', { id }, signal);
      return workflowState;
    },
    /** The states of a team, in the team's order. */
    async states(key: string, teamId: string, signal?: AbortSignal): Promise<LinearState[]> {
      type Found = { team: { states: { nodes: (LinearState & { position: number })[] } } | null };
      const { team } = await ask<Found>(key, 'states', { team: teamId }, signal);
      return (team?.states.nodes ?? []).toSorted((a, b) => a.position - b.position);
    },
    async issue(key: string, id: string, signal?: AbortSignal): Promise<LinearIssue | null> {
      return (await ask<{ issue: LinearIssue | null }>(key, 'issue', { id }, signal)).issue;
    },
    /** The id of the newest issue whose description contains the marker, among the newest thousand issues. */
    async findByMark(key: string, mark: string, signal?: AbortSignal): Promise<string | undefined> {
      type Found = {
        issues: {
          nodes: { id: string; description: string | null }[];
          pageInfo: { hasNextPage: boolean; endCursor: string | null };
        };
      };
      let after: string | null = null;
      for (let page = 0; page < markedPages; page += 1) {
        const { issues }: Found = await ask<Found>(key, 'newest', { after }, signal);
        const found = issues.nodes.find(({ description }) => description?.includes(mark));
        if (found || !issues.pageInfo.hasNextPage) return found?.id;
        after = issues.pageInfo.endCursor;
      }
      return undefined;
    },
    async comments(key: string, issueId: string, signal?: AbortSignal): Promise<{ id: string; body: string }[]> {
      type Found = { issue: { comments: { nodes: { id: string; body: string }[] } } | null };
      const { issue } = await ask<Found>(key, 'comments', { id: issueId }, signal);
      return issue?.comments.nodes ?? [];
    },
    async createIssue(key: string, input: NewIssue, signal?: AbortSignal): Promise<LinearIssue> {
      type Made = { issueCreate: { issue: LinearIssue } };
      return (await ask<Made>(key, 'createIssue', { input }, signal)).issueCreate.issue;
    },
    async updateIssue(key: string, id: string, input: IssueChange, signal?: AbortSignal): Promise<LinearIssue> {
      type Made = { issueUpdate: { issue: LinearIssue } };
      return (await ask<Made>(key, 'updateIssue', { id, input }, signal)).issueUpdate.issue;
    },
    async comment(
      key: string,
      input: { id?: string; issueId: string; body: string },
      signal?: AbortSignal,
    ): Promise<string> {
      type Made = { commentCreate: { comment: { id: string } } };
      return (await ask<Made>(key, 'comment', { input }, signal)).commentCreate.comment.id;
    },
  };
}

/** Linear takes personal API keys as they are, and OAuth access tokens as bearer tokens. */
const authorization = (key: string): string => (key.startsWith('lin_oauth_') ? `Bearer ${key}` : key);

type Said = { data?: unknown; errors?: { message?: string; extensions?: Record<string, unknown> }[]; message?: string };

function refusalOf(status: number, said: Said | undefined, retryAfter: string | undefined): LinearError | undefined {
  const [error] = said?.errors ?? [];
  if (status === 200 && said?.data !== undefined && !error) return undefined;
  const { code, userPresentableMessage: presentable } = error?.extensions ?? {};
  const word = typeof presentable === 'string' ? presentable : (error?.message ?? said?.message);
  const message = `Linear says: ${(word ?? `status ${status}`).slice(0, 300)}`;
  const unauthorized = (status === 401 && error !== undefined) || code === 'AUTHENTICATION_ERROR';
  const limited = status === 429 || code === 'RATELIMITED';
  const unknownField = /is not defined by type|unknown field/i.test(error?.message ?? '');
  // The error's code, INPUT_ERROR, stands for any invalid input, so only the message tells whether a record is missing.
  const missing = /^entity not found\b/i.test(error?.message ?? '');
  const passing = status >= 500 || status === 408 || code === 'INTERNAL_SERVER_ERROR';
  // A reply without Linear's `errors`, such as an HTML page or an empty body, does not show that Linear refused the
  // request, so the request is retried. A retry creates nothing twice, because this system chooses the ids or searches
  // for what it made.
  const permanent = error !== undefined && !limited && !unauthorized && (!passing || unknownField);
  const seconds = Number(retryAfter);
  const retryAfterMs = limited && seconds > 0 ? seconds * 1000 : undefined;
  return new LinearError(message, { status, unauthorized, permanent, retryAfterMs, unknownField, missing });
}
