/**
 * Finds or obtains a Chromium for the pages that need a browser to be read. It starts nothing, and a system
 * without one works except for those pages.
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cached, exists, onPath, platform, run } from './cache.ts';
import type { Report } from './cache.ts';

const version = '153.0.0';
/** As the lock file of the install names it. */
const integrity = 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==';
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome-headless-shell'];
const macChrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** What the packaged build needs from the system beyond the C library. */
const systemPackages = ['libnss3', 'libnspr4'];

/**
 * The path of a Chromium that runs: PUPPETEER_EXECUTABLE_PATH, PATH, our cache, then the npm package that carries
 * one for Linux x64. Throws EngineError with what to install.
 */
export async function findChromium(report: Report, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const configured = env['PUPPETEER_EXECUTABLE_PATH'];
  if (configured) {
    if (await exists(configured)) return configured;
    throw new EngineError(`PUPPETEER_EXECUTABLE_PATH names ${configured}, and there is nothing.`);
  }
  for (const name of names) {
    const found = await onPath(name);
    if (found !== undefined) return found;
  }
  if (await exists(macChrome)) return macChrome;
  if (platform !== 'linux-x64') {
    throw new EngineError('No Chromium was found. Install Chromium or Chrome, or set PUPPETEER_EXECUTABLE_PATH.');
  }
  const folder = await cached({ name: 'chromium', version, report }, (temporary) => fromPackage(temporary, report));
  const path = join(folder, 'chromium');
  await ensureRuns(path, report);
  return path;
}

async function fromPackage(temporary: string, report: Report): Promise<void> {
  report(`obtaining Chromium ${version} (67 MB)`);
  const work = join(temporary, 'package');
  const npm = [
    'install',
    '--prefix',
    work,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `@sparticuz/chromium@${version}`,
  ];
  try {
    await run('npm', npm, { heartbeat: { text: '  still fetching Chromium', report } });
    const lock = JSON.parse(await readFile(join(work, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    const found = lock.packages['node_modules/@sparticuz/chromium']?.integrity;
    if (found !== integrity)
      throw new EngineError(`Chromium's package has another checksum than the pinned one (${found}).`);
    // The package unpacks itself into the temporary folder of the process that asks for its path.
    const code = `import c from '@sparticuz/chromium'; process.stdout.write(await c.executablePath());`;
    const path = await run(process.execPath, ['--input-type=module', '-e', code], {
      cwd: work,
      env: { TMPDIR: temporary },
    });
    if (path !== join(temporary, 'chromium')) await rename(path, join(temporary, 'chromium'));
    await rm(work, { recursive: true, force: true });
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(
      `Chromium could not be obtained (${(error as Error).message}). Install Chromium, or set PUPPETEER_EXECUTABLE_PATH.`,
    );
  }
}

/** A fresh Debian lacks two libraries; root may add them. */
async function ensureRuns(path: string, report: Report): Promise<void> {
  const works = async (): Promise<boolean> =>
    run(path, ['--version']).then(
      () => true,
      () => false,
    );
  if (await works()) return;
  if (process.getuid?.() === 0 && (await onPath('apt-get')) !== undefined) {
    report(`installing ${systemPackages.join(' and ')} for Chromium`);
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const install = ['install', '-y', '-q', '--no-install-recommends', ...systemPackages];
    await run('apt-get', ['update', '-q'], { env }).catch(() => undefined);
    await run('apt-get', install, { env }).catch(() => undefined);
    if (await works()) return;
  }
  throw new EngineError(
    `Chromium does not run here: a library is missing. As root: apt-get install ${systemPackages.join(' ')}; or set PUPPETEER_EXECUTABLE_PATH.`,
  );
}
