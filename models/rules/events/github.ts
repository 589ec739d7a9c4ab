/** Rules of GitHub: how a repository is named. Pure. */

/** `owner/name`, as GitHub allows them. */
export const repositoryName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

/** Whose the events of a repository are. */
export const githubExternal = (repositoryId: number): string => `repository:${repositoryId}`;

/** What stands for an issue in links; `repositoryId`: the id that a repository keeps when it is renamed. */
export const githubIssueExternal = (repositoryId: string, number: number): string => `${repositoryId}#${number}`;
export const numberOfIssue = (external: string): number => Number(external.slice(external.indexOf('#') + 1));

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** The issue that an event is about, as links name it; undefined when it is about none. */
export function readGithubIssue(body: string): string | undefined {
  const event = JSON.parse(body) as unknown;
  const repository = memberOf(memberOf(event, 'repository'), 'id');
  const issue = memberOf(event, 'issue');
  const number = memberOf(issue, 'number');
  if (typeof repository !== 'number' || typeof number !== 'number' || memberOf(issue, 'pull_request') !== undefined)
    return undefined;
  return githubIssueExternal(String(repository), number);
}
