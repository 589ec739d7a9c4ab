/** A repository's name in the form `owner/name`, with the characters that GitHub allows. */
export const repositoryName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

/** The key by which the owner of a repository's events is found. */
export const githubExternal = (repositoryId: number): string => `repository:${repositoryId}`;

/** The id of an issue in links. `repositoryId` stays the same when the repository is renamed. */
export const githubIssueExternal = (repositoryId: string, number: number): string => `${repositoryId}#${number}`;
export const numberOfIssue = (external: string): number => Number(external.slice(external.indexOf('#') + 1));
