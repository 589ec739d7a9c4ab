/** Rules of GitHub: how a repository is named. Pure. */

/** `owner/name`, as GitHub allows them. */
export const repositoryName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

/** Whose the events of a repository are. */
export const githubExternal = (repositoryId: number): string => `repository:${repositoryId}`;

/** What stands for an issue in links; `repositoryId`: the id that a repository keeps when it is renamed. */
export const githubIssueExternal = (repositoryId: string, number: number): string => `${repositoryId}#${number}`;
export const numberOfIssue = (external: string): number => Number(external.slice(external.indexOf('#') + 1));
