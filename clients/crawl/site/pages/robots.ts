/**
 * Parses directives for crawlers in a page's head or in an `X-Robots-Tag` header. Pure. `parseRobots` parses
 * robots.txt.
 */

export type Directives = { noindex: boolean; nofollow: boolean };

/** Directives that have a value after a colon. In all others the text before the colon is a crawler's name. */
const valued = /^(?:max-snippet|max-image-preview|max-video-preview|unavailable_after)$/;

/**
 * Parses header values, one per line, such as `noindex, nofollow`, `none`, `otherbot: noindex`. Directives after a
 * crawler's name apply to that crawler only, up to the end of the line. `agent`: the name of this system's crawler in
 * lower case.
 */
export function parseDirectives(value: string, agent: string): Directives {
  const found: Directives = { noindex: false, nofollow: false };
  for (const line of value.toLowerCase().split('\n')) {
    let meant = true;
    for (const part of line.split(',')) {
      const [, name, rest] = /^\s*([a-z][\w.-]*)\s*:(.*)$/.exec(part) ?? [];
      const forSomebody = name !== undefined && !valued.test(name);
      if (forSomebody) meant = name === agent || name === 'robots';
      const directive = (forSomebody ? (rest ?? '') : part).trim();
      if (!meant) continue;
      if (directive === 'noindex' || directive === 'none') found.noindex = true;
      if (directive === 'nofollow' || directive === 'none') found.nofollow = true;
    }
  }
  return found;
}
