/** Builds a program from its source with Go, for engines that have no release that can be downloaded. */
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cached, EngineError, exists, makeFolder, onPath, orSay, run } from './cache.ts';
import type { Report } from './cache.ts';

/**
 * `targets`: packages of one module with their version, as `go install` takes them. `packages`: how many packages the
 * build compiles, for the progress line. `linker`: additional flags of the linker. `tags`: build tags. `builds`: set
 * only when the target is a build tool. It returns the arguments with which that tool builds the wanted program into a
 * folder.
 */
type Program = {
  name: string;
  targets: readonly string[];
  packages: number;
  linker?: string;
  tags?: string;
  builds?: (folder: string) => Promise<readonly string[]>;
};

/**
 * The folder with the built programs, cached under `name`. `label`: how messages call the program; `name` by default.
 * `told`: the line of progress before the build. @throws EngineError
 */
export async function findWithGo(
  { name, label = name, version, told, ...program }: Program & { label?: string; version: string; told: string },
  report: Report,
): Promise<string> {
  return cached({ name, version, report }, async (temporary) => {
    report(told);
    await buildWithGo({ name: label, ...program }, temporary, report);
  });
}

/**
 * Builds each program into `temporary`. Its file is named like the last part of its package's name. @throws EngineError
 */
export async function buildWithGo(
  { name, targets, packages, linker = '', tags = '', builds }: Program,
  temporary: string,
  report: Report,
): Promise<void> {
  const go = (await onPath('go')) ?? ((await exists('/usr/local/go/bin/go')) ? '/usr/local/go/bin/go' : undefined);
  if (go === undefined) throw new EngineError(`There is no Go to build ${name} with.`);
  const work = join(temporary, 'go');
  // Go prints each downloaded module and each compiled package; every hundredth is reported.
  const seen = { modules: 0, packages: 0 };
  const onLine = (line: string): void => {
    if (line.startsWith('go: downloading ')) {
      seen.modules += 1;
      if (seen.modules % 100 === 0) report(`  fetched ${seen.modules} modules`);
    } else if (line.includes('/') && !line.includes(' ')) {
      seen.packages += 1;
      if (seen.packages % 100 === 0) report(`  compiled ${seen.packages} of about ${packages} packages`);
    }
  };
  const flags = ['-v', '-trimpath', '-tags', tags, '-ldflags', `-s -w ${linker}`];
  await makeFolder(join(work, 'tmp'));
  const options = {
    env: {
      CGO_ENABLED: '0',
      GOPATH: join(work, 'path'),
      GOCACHE: join(work, 'cache'),
      GOTMPDIR: join(work, 'tmp'),
      GOBIN: join(work, 'bin'),
      // Without this flag Go's module cache is read-only and cannot be deleted.
      GOFLAGS: '-modcacherw',
      // A target that is a build tool (`builds`) looks for Go on this PATH.
      PATH: `${dirname(go)}:${process.env['PATH'] ?? ''}`,
    },
    onLine,
    heartbeat: { text: `  still building ${name}`, report },
  };
  const programs = targets.map((target) => basename(target.split('@')[0]!));
  const build = async (): Promise<void> => {
    await run(go, ['install', ...flags, ...targets], options);
    for (const program of programs) await rename(join(work, 'bin', program), join(temporary, program));
    if (builds) await run(join(temporary, programs[0]!), await builds(temporary), options);
  };
  await build().catch(orSay((why) => `${name} could not be built (${why}).`));
  report('  removing the build folder');
  await rm(work, { recursive: true, force: true });
}
