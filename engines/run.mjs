/**
 * The entry of every command: plain JavaScript for Node 18 and newer, with nothing installed. It installs the packages
 * that the command needs when they are missing or older than the lock file, then starts Node 24 with the entry. It must
 * import only node:* and files that do the same.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeLock } from './takelock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stamp = join(modules, '.stamp');
const oldestNode = 24;
/** Commands for people who change the code need the development packages too; all others run without them. */
const forDevelopment = /^(?:test|bench|node_modules)\/|^engines\/check\.ts$/;
/** Node's cache of compiled code, already without types: starting a worker takes half the processor time with it. */
const compileCache = join(modules, '.cache', 'node-compile');

/**
 * Runs `entry` (relative to the project) under Node 24 in the caller's working directory; this process then ends with
 * the same exit code or signal.
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
 * What the stamp says when the packages of `kind` are installed: `all`, or `start` without the development packages.
 * The hash is that of the lock file and the system.
 */
function stampOf(kind) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return `${kind} ${createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex')}`;
}

function isCurrent(kind) {
  try {
    const stamped = readFileSync(stamp, 'utf8');
    if (stamped === stampOf('all') || stamped === stampOf(kind)) return true;
  } catch {
    // There is no stamp, but somebody may have run npm themselves, so npm's own record is checked.
  }
  if (!matchesLock(kind)) return false;
  writeStamp(kind);
  return true;
}

/** By a rename: where the packages of two clones are hard links, each clone has a stamp of its own. */
function writeStamp(kind) {
  writeFileSync(`${stamp}.new`, stampOf(kind));
  renameSync(`${stamp}.new`, stamp);
}

/** The lock file's entries that an install of `kind` puts on this system, as pairs of path and entry. */
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

/** Whether npm's own record of its install names every package that `kind` needs. */
function matchesLock(kind) {
  try {
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
    const missing = wanted(kind).some(([path, entry]) => {
      if (installed[path] !== undefined) return installed[path].version !== entry.version;
      // `devOptional` is what development packages and optional ones both bring.
      return !entry.optional && !(kind === 'start' && entry.devOptional);
    });
    return !missing && existsSync(join(modules, kind === 'all' ? 'typescript' : 'koa', 'package.json'));
  } catch {
    return false;
  }
}

async function ensureModules(kind) {
  if (isCurrent(kind)) return;
  // The lock is not inside node_modules, which npm is about to change; its name depends on this clone.
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
    // npm removes what it is not asked for, so development packages that are there are asked for.
    const asked = existsSync(join(modules, 'typescript')) ? 'all' : kind;
    if (!isCurrent(kind)) await install(asked);
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
  // `npm ci` would first remove the packages of a system that may be running.
  const how = countPackages() === 0 && lockIsComplete() ? ['ci'] : ['install', '--no-save'];
  try {
    const npm = process.env.npm_execpath;
    const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
    const args = [
      ...first,
      ...how,
      kind === 'all' ? '--include=dev' : '--omit=dev',
      '--include=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const env = { ...process.env, NODE_ENV: 'development' };
    // Registered before npm starts: a signal in between would end only this process.
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
    writeStamp(kind);
    say(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    stopped();
    clearInterval(beat);
  }
}

/** A signal stopped this command while it installed; the exit reports that signal. */
class Stopped extends Error {
  constructor(signal) {
    super('stopped while the packages were being installed; the next start goes on');
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Passes signals that stop this process on to the child, so that npm does not keep working in a folder in which the
 * next start runs npm, too. The returned function stops that, and returns the first signal that arrived.
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

/**
 * Whether the lock file names the binaries of every platform. If a registry lacked some of them when it was written,
 * `npm ci` refuses it on every platform. `npm install --no-save` takes the same versions and checksums from it, looks
 * up only what is missing, and leaves the file unchanged.
 */
function lockIsComplete() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(lock).every(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).every(
      (name) => `node_modules/${name}` in lock || `${path}/node_modules/${name}` in lock,
    ),
  );
}

/** npm makes all folders first and fills them afterwards. */
function countPackages() {
  const namesIn = (folder) => (existsSync(folder) ? readdirSync(folder) : []);
  return namesIn(modules)
    .flatMap((name) => (name.startsWith('@') ? namesIn(join(modules, name)).map((part) => join(name, part)) : [name]))
    .filter((name) => existsSync(join(modules, name, 'package.json'))).length;
}

/**
 * Starts the entry and ends in the same way as it. At a terminal Ctrl-C reaches the child directly, so it is forwarded
 * only without a terminal; SIGTERM and SIGHUP reach only this process.
 */
function handOver(node, args) {
  const env = { NODE_COMPILE_CACHE: compileCache, ...process.env };
  const child = spawn(node, args, { stdio: 'inherit', env });
  const atTerminal = Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY);
  let lastInterrupt = 0;
  process.on('SIGINT', () => {
    // npm forwards the signals that it gets, so one Ctrl-C may arrive here twice.
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
 * npm dies of SIGTERM without forwarding it. A signal that stops `npm start` is meant for the system, so the system
 * stops too.
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
