/** Finds HAProxy, or fetches Debian's package of it. `npm run cluster` balances the API and Temporal with it. */
import { onPath } from './cache.ts';
import type { Report } from './cache.ts';
import { fromDebian, type Program } from './debian.ts';

/**
 * `version` names no exact release, because a Debian release has one version of HAProxy and only adds fixes to it.
 * `packages` includes the libraries that a fresh Debian lacks.
 */
const debian = {
  name: 'haproxy',
  version: '2-debian',
  packages: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  command: 'usr/sbin/haproxy',
};

/** @throws EngineError that says what to install */
export async function findHaproxy(report: Report): Promise<Program> {
  const command = await onPath('haproxy');
  return command === undefined ? fromDebian(debian, report) : { command, env: {} };
}
