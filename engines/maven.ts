/** Fetches engines written in Java with Maven. */
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { EngineError, cached, onPath, orSay, run, verify } from './cache.ts';
import type { Report } from './cache.ts';

/**
 * Runs Maven's `goals` in `temporary`. What Maven downloads for itself is removed again. `label`: what progress lines
 * and errors call the engine. @throws EngineError
 */
export async function runMaven(
  goals: readonly string[],
  temporary: string,
  label: string,
  report: Report,
): Promise<void> {
  report(`obtaining ${label}`);
  const repository = join(temporary, 'repository');
  await run('mvn', ['-q', '-B', '-C', `-Dmaven.repo.local=${repository}`, ...goals], {
    cwd: temporary,
    heartbeat: { text: `  still fetching ${label}`, report },
  }).catch(orSay((why) => `Maven could not fetch ${label} (${why}).`));
  await rm(repository, { recursive: true, force: true });
}

/**
 * `artifact`: `group:name:version`, and `:jar:classifier` where there is one. `label`: the jar's name in progress lines
 * and errors.
 */
type Jar = { name: string; version: string; artifact: string; file: string; sha256: string; label: string };

/** The path of the jar. @throws EngineError without Maven and Java. */
export async function findJar(jar: Jar, report: Report): Promise<string> {
  const { name, version, artifact, file, sha256, label } = jar;
  const folder = await cached({ name, version, report }, async (temporary) => {
    if ((await onPath('mvn')) === undefined)
      throw new EngineError(`Maven is needed for ${label}: install a JDK (17 or newer) and Maven, and try again.`);
    const goals = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${temporary}`];
    await runMaven(goals, temporary, label, report);
    await verify(join(temporary, file), sha256);
  });
  return join(folder, file);
}
