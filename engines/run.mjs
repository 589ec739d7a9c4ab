/**
 * Every command starts here. This file runs before any package is installed, so it is plain JavaScript for Node 20 and
 * newer that imports only node:* and files that do the same. It installs missing or outdated packages, then runs the
 * command's entry under Node 24.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeLock } from './takelock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const oldestNode = 24;
/** The entries that also need development packages. */
const forDevelopment = /^(?:test|bench|node_modules|engines\/cluster)\/|^engines\/check\.ts$/;
/** Node's cache of compiled modules. With it, starting a worker takes half the processor time. */
const compileCache = join(modules, '.cache', 'node-compile');

/**
 * Runs `entry` (relative to the project) under Node 24 in the caller's working directory. This process then ends with
 * the entry's exit code or signal.
 */
export async function runEntry(entry, args) {
  try {
    await ensureModules(forDevelopment.test(entry) ? 'all' : 'start');
    handOver(findNode(), ['--disable-warning=ExperimentalWarning', resolve(root, entry), ...args]);
  } catch (error) {
    process.stderr.write(`${sentence(error)}\n`);
    process.exitCode = error?.exitCode ?? 1;
  }
}

function sentence(error) {
  if (error?.code === 'ENOSPC') return 'The disk is full. Free some space and try again.';
  return error instanceof Error ? error.message : String(error);
}

function findNode() {
  const packaged = join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(packaged)) return packaged;
  if (Number(process.versions.node.split('.')[0]) >= oldestNode) return process.execPath;
  throw new Error(
    `This needs Node ${oldestNode} or newer, and there is no packaged one for ${process.platform}-${process.arch}. Install Node ${oldestNode} and try again.`,
  );
}

/**
 * The entries of package-lock.json that an install of `kind` needs on this platform, as pairs of path and entry. `all`
 * includes development packages, `start` does not.
 */
function wanted(kind) {
  const fits = (list, value) => list === undefined || list.includes(value);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(lock).filter(
    ([path, entry]) =>
      path !== '' &&
      (kind === 'all' || !entry.dev) &&
      fits(entry.os, process.platform) &&
      fits(entry.cpu, process.arch),
  );
}

/**
 * Whether all packages that `kind` needs are installed, according to the record that npm writes at the end of an
 * install.
 */
function matchesLock(kind) {
  try {
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
    const missing = wanted(kind).some(([path, entry]) => {
      if (installed[path] !== undefined) return installed[path].version !== entry.version;
      // An optional package may be missing. Without development packages, a `devOptional` package may be missing too,
      // because only development packages and optional packages require it.
      return !entry.optional && !(kind === 'start' && entry.devOptional);
    });
    return !missing && existsSync(join(modules, kind === 'all' ? 'typescript' : 'koa', 'package.json'));
  } catch {
    return false;
  }
}

async function ensureModules(kind) {
  if (matchesLock(kind)) return;
  // The lock file is outside node_modules, which npm is about to change. Its name contains a hash of this clone's path,
  // so that clones do not wait for each other.
  const lock = join(
    tmpdir(),
    `support-platform-npm-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`,
  );
  let said = false;
  const held = await takeLock(lock, () => {
    if (!said) process.stderr.write('another command is installing the packages; waiting for it\n');
    said = true;
  });
  try {
    // npm removes packages that are not requested, so existing development packages are requested too.
    const asked = existsSync(join(modules, 'typescript')) ? 'all' : kind;
    if (!matchesLock(kind)) await install(asked);
  } finally {
    held.release();
  }
}

async function install(kind) {
  const say = (text) => process.stderr.write(`${text}\n`);
  const more = countPackages() > 0 ? 'the missing ones of ' : '';
  say(`installing ${more}about ${wanted(kind).length} packages (once, about a minute)`);
  const started = Date.now();
  const beat = setInterval(() => {
    say(`  ${countPackages()} packages unpacked, ${Math.round((Date.now() - started) / 1000)} s`);
  }, 5000);
  const output = [];
  let stopped = () => undefined;
  try {
    const npm = process.env.npm_execpath;
    const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
    const args = [
      ...first,
      // `npm ci` would first delete packages that a running system may use, and it refuses a lock file that lacks the
      // binaries of some platforms. These arguments make npm take the same versions and checksums from the lock file,
      // and leave that file unchanged.
      'install',
      '--no-save',
      kind === 'all' ? '--include=dev' : '--omit=dev',
      '--include=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const env = { ...process.env, NODE_ENV: 'development' };
    // The signal handlers are registered before npm starts; otherwise an early signal would end only this process.
    stopped = passSignalsTo(() => child);
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    const code = await new Promise((done, fail) => {
      child.once('error', () => fail(new Error('npm was not found. Install Node with npm and try again.')));
      child.once('close', (status, signal) => done(status ?? signal));
    });
    const signal = stopped();
    if (signal) throw new Stopped(signal);
    const printed = Buffer.concat(output).toString();
    if (/ENOSPC|no space left/i.test(printed)) throw new Error('The disk is full. Free some space and try again.');
    if (code !== 0)
      throw new Error(
        `The packages could not be installed (npm ended with ${code}):\n${printed.split('\n').slice(0, 12).join('\n')}`,
      );
    say(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    stopped();
    clearInterval(beat);
  }
}

/** Thrown when a signal stopped this command during the install. The exit code reports that signal. */
class Stopped extends Error {
  constructor(signal) {
    super('stopped while the packages were being installed; the next start goes on');
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Forwards the signals that stop this process to npm. Otherwise npm would keep changing node_modules while the next
 * start runs npm too. The returned function ends the forwarding and returns the first signal that arrived.
 */
function passSignalsTo(child) {
  let first;
  const passOn = (signal) => {
    first ??= signal;
    child().kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  const look = process.env.npm_lifecycle_event === undefined ? undefined : whenParentEnds(() => passOn('SIGTERM'));
  return () => {
    for (const signal of signals) process.off(signal, passOn);
    clearInterval(look);
    return first;
  };
}

/** Counts the filled package folders, because npm creates all folders first and fills them later. */
function countPackages() {
  const namesIn = (folder) => (existsSync(folder) ? readdirSync(folder) : []);
  return namesIn(modules)
    .flatMap((name) => (name.startsWith('@') ? namesIn(join(modules, name)).map((part) => join(name, part)) : [name]))
    .filter((name) => existsSync(join(modules, name, 'package.json'))).length;
}

/**
 * Starts the entry, and ends with its exit code or signal. At a terminal the child gets Ctrl-C directly, so SIGINT is
 * forwarded only without a terminal. SIGTERM and SIGHUP reach only this process and are always forwarded.
 */
function handOver(node, args) {
  const env = { NODE_COMPILE_CACHE: compileCache, ...process.env };
  const child = spawn(node, args, { stdio: 'inherit', env });
  const atTerminal = Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY);
  let lastInterrupt = 0;
  process.on('SIGINT', () => {
    // npm forwards SIGINT, so one Ctrl-C may arrive twice. The second one, within half a second, is not forwarded.
    const now = Date.now();
    if (!atTerminal && now - lastInterrupt > 500) child.kill('SIGINT');
    lastInterrupt = now;
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  if (process.env.npm_lifecycle_event !== undefined) whenParentEnds(() => child.kill('SIGTERM'));
  child.once('error', (error) => {
    process.stderr.write(`${sentence(error)}\n`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}

/**
 * Calls `stop` when the parent process, npm, ends. SIGTERM ends npm, which does not forward the signal, but whoever
 * stops `npm start` wants to stop the system.
 */
function whenParentEnds(stop) {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    stop();
  }, 200);
  return look;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(import.meta.url))) {
  const [entry, ...args] = process.argv.slice(2);
  if (entry === undefined) {
    process.stderr.write('usage: node engines/run.mjs ENTRY.ts [arguments]\n');
    process.exitCode = 2;
  } else await runEntry(entry, args);
}
