/**
 * The entry of every command: plain JavaScript for Node 18 and newer, with nothing installed. It installs the packages
 * when they are missing or older than the lock file, then starts Node 24 with the TypeScript entry. It must import only
 * node:* and files that do the same.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeLock } from './takelock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stamp = join(modules, '.stamp');
const oldestNode = 24;
/** Node's cache of compiled code, already without types: starting a worker takes half the processor time with it. */
const compileCache = join(modules, '.cache', 'node-compile');

/**
 * Runs `entry` (relative to the project) under Node 24 in the caller's working directory; this process then ends with
 * the same exit code or signal.
 */
export async function runEntry(entry, args) {
  try {
    await ensureModules();
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

/** A hash of what must be installed: the lock file and the system. */
function wanted() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
}

function isCurrent() {
  try {
    if (readFileSync(stamp, 'utf8') === wanted()) return true;
  } catch {
    // There is no stamp, but somebody may have run npm themselves, so npm's own record is checked.
  }
  return matchesLock();
}

/** Whether npm's own record of its install names every package of the lock file that this system needs. */
function matchesLock() {
  try {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
    const missing = Object.entries(lock).some(([path, entry]) => {
      if (path === '' || (installed[path]?.version ?? '') === entry.version) return false;
      return installed[path] !== undefined || !entry.optional;
    });
    if (missing || !existsSync(join(modules, 'typescript', 'package.json'))) return false;
    writeFileSync(stamp, wanted());
    return true;
  } catch {
    return false;
  }
}

async function ensureModules() {
  if (isCurrent()) return;
  // The lock is not inside node_modules, which npm is about to remove; its name depends on this clone.
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
    if (!isCurrent()) await install();
  } finally {
    held.release();
  }
}

async function install() {
  const count = Object.keys(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages).length - 1;
  const say = (text) => process.stderr.write(`${text}\n`);
  say(`installing ${count} packages (once, about a minute)`);
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
      ...(lockIsComplete() ? ['ci'] : ['install', '--no-save']),
      '--include=dev',
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
    writeFileSync(stamp, wanted());
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

function countPackages() {
  try {
    return readdirSync(modules).reduce(
      (sum, name) =>
        sum + (name.startsWith('@') ? readdirSync(join(modules, name)).length : Number(!name.startsWith('.'))),
      0,
    );
  } catch {
    return 0;
  }
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
