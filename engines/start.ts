/**
 * `npm start`: runs the whole system on this machine. Shows progress, then one screen when the system is ready. Ctrl-C
 * stops the processes in order.
 */
import { isAbsolute, relative } from 'node:path';
import { ConfigError, readConfig } from '../config.ts';
import { loginCommand } from '../cli/arguments.ts';
import { EngineError, readable } from './cache.ts';
import { demoOrganization } from './demo.ts';
import type { Demo } from './demo.ts';
import { freePort } from './ports.ts';
import { startSystem } from './system.ts';
import type { System } from './system.ts';

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The screen shown when the system is ready. Scripts wait for its last line. */
export function screen(
  system: Pick<System, 'url' | 'uiAddress' | 'temporalAddress' | 'logDir'>,
  demo: Demo,
  dataDir: string,
): string {
  const documents = `${system.url}/v1/orgs/${demo.org_id}/documents`;
  const auth = `-H 'Authorization: Bearer ${demo.key}'`;
  return `
  Start page     ${system.url}
  API            ${system.url}/v1
  Team page      ${system.url}/app (the link on the start page signs in)
  Docs           ${system.url}/docs
  Chat widget    ${system.url}/demo?key=${demo.publishable_key}
  Temporal UI    ${system.uiAddress ?? `that of ${system.temporalAddress}`}
  Organization   ${demo.org_id} (${demo.org_name}); the chat answers from its six documents
  Login          ${demo.email}, password ${demo.password}
  Test key       ${demo.key}
  Data, logs     ${dataDir}, ${system.logDir}
  Private hosts  crawls, webhooks and tools reach them, and plain http, only where EGRESS_ALLOW names them, as in
                 EGRESS_ALLOW=localhost:8080 npm start

  Upload a document, list the documents, ask a question:

curl -sS ${auth} -F 'file=# Parking. Customers park for free for two hours. Each further hour costs 3 EUR.;filename=parking.md;type=text/markdown' ${documents}

curl -sS ${auth} ${documents}

curl -sS ${auth} -H 'Content-Type: application/json' -d '{"query":"What does parking cost after two hours?"}' ${system.url}/v1/orgs/${demo.org_id}/kb/query

  Log in with the command-line tool (it asks for the password):

${loginCommand(system.url, demo.email)}

  Ctrl-C stops it; the data stay.
ready ${system.url}/v1`;
}

/** Relative to the current folder when `path` is inside it, otherwise unchanged. */
function short(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}

/** The message of an expected error; the stack of any other error. */
function sentence(error: unknown): string {
  const known = readable(error);
  if (known instanceof EngineError || known instanceof ConfigError) return known.message;
  return known instanceof Error ? (known.stack ?? known.message) : String(known);
}

/**
 * Calls `first` on the first SIGINT, SIGTERM or SIGHUP and `again` on a later one. One Ctrl-C may arrive twice, from
 * the terminal and from npm, so signals within half a second count as one.
 */
function onStopSignals(first: () => void, again: () => void): void {
  let at: number | undefined;
  const handle = (): void => {
    const now = performance.now();
    if (at === undefined) {
      at = now;
      first();
    } else if (now - at > 500) again();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle);
}

/** A system that has started. `screen` prepares the data that the screen shows, and returns the screen's text. */
type Running = Pick<System, 'failed' | 'stop' | 'killAll'> & { screen(): Promise<string> };

/**
 * Starts a system, prints its screen, and waits until a stop signal or until one of its processes ends for good; then
 * stops the system in order. A second signal kills every process. Returns the exit code.
 */
export async function inForeground(start: (aborted: AbortSignal) => Promise<Running>): Promise<number> {
  // The program that reads the output may end first, as in `npm start | head`. Writes then fail and are ignored.
  process.stdout.on('error', () => undefined);
  const stopAsked = Promise.withResolvers<void>();
  const abort = new AbortController();
  let running: Running | undefined;
  onStopSignals(
    () => {
      abort.abort(new EngineError('Stopped while starting.'));
      stopAsked.resolve();
    },
    () => {
      print('stopping at once');
      running?.killAll();
      process.exit(130);
    },
  );
  try {
    running = await start(abort.signal);
    // If a process dies while the screen is prepared, its death is reported instead of the broken connection.
    const died = running.failed.then(({ message }) => {
      throw new EngineError(message);
    });
    const text = await Promise.race([running.screen(), died]);
    if (!abort.signal.aborted) print(text);
    const failure = await Promise.race([running.failed, stopAsked.promise.then(() => undefined)]);
    print(failure === undefined ? 'stopping: requests and work in hand are finished first' : failure.message);
    await running.stop();
    if (failure === undefined) print('stopped');
    return failure === undefined ? 0 : 1;
  } catch (error) {
    await running?.stop();
    // Work that a stop interrupted fails with various errors, which would not help the person who stopped it.
    print(abort.signal.aborted ? 'stopped while starting' : sentence(error));
    return abort.signal.aborted ? 0 : 1;
  }
}

async function start(aborted: AbortSignal): Promise<Running> {
  const given = readConfig(process.env);
  const config = given.port === 0 ? { ...given, port: await freePort() } : given;
  const system = await startSystem({ config, env: process.env, report: print, aborted });
  return {
    ...system,
    async screen() {
      const demo = await demoOrganization(system.url, config.dataDir, { help: true });
      system.keepUp();
      return screen({ ...system, logDir: short(system.logDir) }, demo, short(config.dataDir));
    },
  };
}

// The process exits explicitly, because some client libraries keep sockets open. All work is finished at this point.
if (import.meta.main) process.exit(await inForeground(start));
