/**
 * Installing and running the engines. An incomplete install is never used, no process outlives its owner, and data
 * survive.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { EngineError, cached, download, orSay, readable, run, verify, withLock } from '../../engines/cache.ts';
import { startGuarded, startServer, untilReady, type Guarded } from '../../engines/child.ts';
import { demoOrganization } from '../../engines/demo.ts';
import { findWithGo } from '../../engines/go.ts';
import { lockDataDir } from '../../engines/lock.ts';
import { explainMongod, findMongod, startMongod } from '../../engines/mongod.ts';
import { accepts, freePort, isFree } from '../../engines/ports.ts';
import { workerEnv } from '../../engines/system.ts';
import { isAlive } from '../../engines/takelock.mjs';
import { lostPort, startTemporal } from '../../engines/temporal.ts';
import { connectMongo } from '../../models/base/connect.ts';
import { everyRecord } from '../../models/base/define.ts';
import { listening } from '../kit/listening.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const silent = (): void => undefined;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engines-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function until(state: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await state())) await sleep(20);
}

/** The process id of a process that has certainly ended. */
async function deadPid(): Promise<number> {
  const child = spawn('/bin/true');
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('cached', () => {
  const options = () => ({ name: 'thing', version: '1', report: silent, root: folder });

  it('of two concurrent installs of the same program, one fills the folder, and both get the complete folder', async () => {
    let fills = 0;
    const fill = async (temporary: string): Promise<void> => {
      fills += 1;
      await sleep(50);
      await writeFile(join(temporary, 'binary'), 'whole');
    };
    const found = await Promise.all([cached(options(), fill), cached(options(), fill)]);
    expect(found).toEqual([join(folder, 'thing-1'), join(folder, 'thing-1')]);
    expect(fills).toBe(1);
    expect(await readFile(join(folder, 'thing-1', 'binary'), 'utf8')).toBe('whole');
  });

  it('a failed install leaves nothing behind, and the next call tries again', async () => {
    const failing = cached(options(), async (temporary) => {
      await writeFile(join(temporary, 'half'), '');
      throw new Error('connection lost');
    });
    await expect(failing).rejects.toThrow('connection lost');
    expect(await readdir(folder)).toEqual([]);
    await cached(options(), (temporary) => writeFile(join(temporary, 'binary'), 'whole'));
    expect(await readdir(join(folder, 'thing-1'))).toEqual(['binary']);
  });

  it('the lock and the files of a killed installer are removed', async () => {
    await writeFile(join(folder, 'thing-1.lock'), JSON.stringify({ pid: await deadPid() }));
    await mkdtemp(join(folder, '.thing-1-'));
    await cached(options(), (temporary) => writeFile(join(temporary, 'binary'), 'whole'));
    expect(await readdir(folder)).toEqual(['thing-1']);
  });
});

describe('withLock', () => {
  it('withLock gives the lock to many callers in turn, although a dead process held the lock first', async () => {
    const path = join(folder, 'lock');
    await writeFile(path, JSON.stringify({ pid: await deadPid() }));
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(5);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(path, 'waiting', silent, work)));
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a download', () => {
  it('a download with another checksum than the pinned one is refused', async () => {
    const path = join(folder, 'file');
    await writeFile(path, 'abc');
    await verify(path, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    await expect(verify(path, '0'.repeat(64))).rejects.toThrow(/has SHA-256 ba7816bf/);
  });

  it('a download is aborted when the host accepts the connection and never answers', async () => {
    const { port, close } = await listening(createServer(silent));
    await expect(download(`http://127.0.0.1:${port}/`, join(folder, 'file'), 100)).rejects.toThrow(/abort/i);
    void close();
  });

  it('the error for a full disk is a clear sentence, also when a called program reports the full disk', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', path: '/data/x' });
    expect(readable(full)).toEqual(new EngineError('The disk is full (at /data/x). Free some space and try again.'));
    await expect(run('/bin/sh', ['-c', 'echo "write: no space left on device" >&2; exit 1'])).rejects.toThrow(
      EngineError,
    );
  });
});

it('orSay turns the reason of a failure into a sentence, and leaves an EngineError unchanged', async () => {
  const say = orSay((why) => `It could not be built (${why}).`);
  await expect(Promise.reject(new Error('no compiler')).catch(say)).rejects.toThrow(
    new EngineError('It could not be built (no compiler).'),
  );
  const full = new EngineError('The disk is full.');
  await expect(Promise.reject(full).catch(say)).rejects.toBe(full);
});

it('the error of a failed build with Go names the program by its label', async () => {
  const { PATH, XDG_CACHE_HOME } = process.env;
  await writeFile(join(folder, 'go'), '#!/bin/sh\necho no compiler\nexit 1\n', { mode: 0o755 });
  Object.assign(process.env, { PATH: `${folder}:${PATH}`, XDG_CACHE_HOME: folder });
  try {
    const wanted = { name: 'short-name', version: '1', told: 'building', targets: ['a.example/b@v1'], packages: 1 };
    await expect(findWithGo({ ...wanted, label: 'the server' }, silent)).rejects.toThrow(
      /^the server could not be built/,
    );
    await expect(findWithGo(wanted, silent)).rejects.toThrow(/^short-name could not be built/);
  } finally {
    Object.assign(process.env, { PATH, XDG_CACHE_HOME });
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME'];
  }
});

describe('demoOrganization', () => {
  /** Looks for a stored organization at a server that gives these answers, the last one repeatedly. */
  async function failureAt(...answers: readonly (readonly [status: number, body: string])[]) {
    await writeFile(join(folder, 'demo.json'), '{"org_id":"org_1","key":"stored"}');
    const asked: string[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const [status, body] = answers[Math.min(asked.length, answers.length) - 1]!;
      response.writeHead(status).end(body);
    });
    const { url, close } = await listening(server);
    try {
      const failure: unknown = await demoOrganization(url, folder).catch((error: unknown) => error);
      return { failure, asked };
    } finally {
      await close();
    }
  }
  const lookUp = 'GET /v1/orgs/org_1/documents?limit=1';

  it.each([
    ['fails', 500, '{"error":"Something broke.","code":"INTERNAL","request_id":"r1"}', /up: Something broke\.\n.*r1$/],
    ['is not this API', 404, '<html>', /up: What answers at .* is not this API/],
  ])('no second demo organization is made when the answering server %s', async (_, status, body, sentence) => {
    const { failure, asked } = await failureAt([status, body]);
    expect([failure, asked]).toEqual([expect.any(EngineError), [lookUp]]);
    expect((failure as Error).message).toMatch(sentence);
  });

  it('when the API refuses the stored key, demoOrganization tries to register a new organization', async () => {
    const details = [{ path: ['body', 'company'], message: 'too short' }];
    const wrong = JSON.stringify({ error: 'Some fields are wrong.', code: 'VALIDATION', details });
    const { failure, asked } = await failureAt([401, '{"error":"No such key.","code":"UNAUTHORIZED"}'], [400, wrong]);
    const sentence = 'The demo organization could not be made: Some fields are wrong.\n  company: too short';
    expect([failure, asked]).toEqual([new EngineError(sentence), [lookUp, 'POST /v1/auth/register']]);
  });
});

describe('a guarded process', () => {
  it('a guarded process dies with its owner, even when the owner is killed with SIGKILL', async () => {
    const owner = join(folder, 'owner.ts');
    const child = join(root, 'engines', 'child.ts');
    await writeFile(
      owner,
      `import { startGuarded } from ${JSON.stringify(child)};
       const it = await startGuarded({ command: 'sleep', args: ['600'], logPath: ${JSON.stringify(join(folder, 'log'))} });
       process.stdout.write(String(it.pid));
       setInterval(() => undefined, 1000);`,
    );
    const process_ = spawn(process.execPath, [owner], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed] = (await once(process_.stdout, 'data')) as [Buffer];
    const pid = Number(printed.toString());
    expect(isAlive(pid)).toBe(true);
    process_.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('a guarded process that ignores SIGTERM is killed after its grace period', async () => {
    const logPath = join(folder, 'log');
    const stubborn = await startGuarded({
      command: '/bin/sh',
      args: ['-c', `trap '' TERM; echo deaf; while :; do sleep 0.05; done`],
      logPath,
    });
    await until(async () => (await stubborn.lastLines()).includes('deaf'));
    await stubborn.stop(100);
    expect(await stubborn.exited).toBe(137);
    expect(isAlive(stubborn.pid)).toBe(false);
  });

  it('the owner of a guarded Node process learns only that the process is ready, and its exit code', async () => {
    const saying = (type: string): Promise<Guarded> =>
      startGuarded({
        command: process.execPath,
        args: ['-e', `process.send({ type: '${type}' }, () => process.exit(7))`],
        logPath: join(folder, 'log'),
        ipc: true,
      });
    const [ready, other] = [await saying('ready'), await saying('other')];
    await until(() => ready.saidReady());
    expect([await ready.exited, await other.exited, other.saidReady()]).toEqual([7, 7, false]);
  });

  it('all waits during the start of a process share one time limit', async () => {
    const child = { running: () => true, explain: async () => 'slow' } as Guarded;
    let asked = 0;
    const second = untilReady('The server', child, 30_000, async () => (asked += 1) > 1, Date.now() - 30_001);
    await expect(second).rejects.toThrow(new EngineError('The server was not ready within 30 s. slow'));
  });

  it.each([
    ['ends', 10_000, 'echo broken', 'The server stopped while starting. broken'],
    ['is too slow', 2_000, 'echo slow; exec sleep 600', 'The server was not ready within 2 s. slow'],
  ])(
    'a server that %s before it is ready is stopped, its folder is removed, and a sentence says why',
    async (_, ms, script, sentence) => {
      const own = await mkdtemp(join(folder, 'own-'));
      const stopped = startServer({
        command: '/bin/sh',
        args: ['-c', script],
        logPath: join(own, 'log'),
        folder: own,
        graceMs: 1000,
        ready: (child) => untilReady('The server', child, ms, async () => false),
      });
      await expect(stopped).rejects.toThrow(new EngineError(sentence));
      expect(await readdir(folder)).toEqual([]);
    },
  );
});

describe('the log of a guarded process', () => {
  const say = async (text: string) => {
    const it = await startGuarded({ command: 'echo', args: [text], logPath: join(folder, 'log') });
    await it.exited;
    return it;
  };

  it('the log of a guarded process shows the last lines of the current run only', async () => {
    await say('the first run');
    const second = await say('the second run');
    expect([await second.lastLines(), await second.explain()]).toEqual(['the second run', 'the second run']);
    expect(await readFile(join(folder, 'log'), 'utf8')).toBe('the first run\nthe second run\n');
  });

  it('a log that has grown large is started anew, and the old log is kept', async () => {
    await writeFile(join(folder, 'log'), Buffer.alloc(10 * 1024 * 1024 + 1));
    await say('anew');
    expect(await readFile(join(folder, 'log'), 'utf8')).toBe('anew\n');
    expect((await stat(join(folder, 'log.1'))).size).toBe(10 * 1024 * 1024 + 1);
  });

  it.each([
    ['{"s":"I","msg":"Shutting down"}', 'Shutting down'],
    [
      '{"s":"I","msg":"a"}\n{"s":"F","msg":"Fatal assertion","attr":{"error":"Broken: x"}}',
      'Fatal assertion Broken: x',
    ],
    [
      '{"s":"E","msg":"WiredTiger error","attr":{"message":"28: No space left on device"}}',
      'The disk is full. Free some space and try again.',
    ],
    ['{"s":"E","msg":"a"}\n{"s":"E","msg":"b","attr":{"error":{"code":9}}}', 'Its last lines:\na\nb {"code":9}'],
    ['', 'It said nothing.'],
  ])('the log of a failed MongoDB process is explained by a sentence: %s', (lines, sentence) => {
    expect(explainMongod(lines)).toBe(sentence);
  });
});

describe('the data folder', () => {
  const writeLock = (holder: object): Promise<void> => writeFile(join(folder, 'start.lock'), JSON.stringify(holder));

  it('a second start in a data folder that is in use is refused with a clear sentence', async () => {
    const lock = await lockDataDir(folder, silent);
    await expect(lockDataDir(folder, silent)).rejects.toThrow(/Another npm start \(process \d+\) uses/);
    lock.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('a start in a data folder waits while an earlier start in the same folder is stopping', async () => {
    const first = await lockDataDir(folder, silent);
    first.stopping();
    const waited = Promise.withResolvers<string>();
    const second = lockDataDir(folder, waited.resolve);
    expect(await waited.promise).toMatch(/which is stopping/);
    first.release();
    (await second).release();
  });

  it('a start takes over the data folder’s lock from a killed process, even when that process id is reused', async () => {
    await writeLock({ pid: await deadPid(), started: '' });
    (await lockDataDir(folder, silent)).release();
    await writeLock({ pid: process.pid, started: 'before the last boot' });
    (await lockDataDir(folder, silent)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('a start takes over the data folder’s lock from a killed process that is still a zombie', async () => {
    const holder = `
       import { takeLock } from ${JSON.stringify(join(root, 'engines', 'takelock.mjs'))};
       await takeLock(${JSON.stringify(join(folder, 'start.lock'))}, () => undefined);
       process.kill(process.pid, 'SIGKILL');`;
    await writeFile(join(folder, 'holder.mjs'), holder);
    // The shell becomes a program that never reaps its children, like process 1 of some containers.
    const script = '"$0" "$1" & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script, process.execPath, join(folder, 'holder.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
      await until(async () => /\) Z /.test(await readFile(`/proc/${Number(pid)}/stat`, 'utf8')));
      (await lockDataDir(folder, silent)).release();
    } finally {
      parent.kill('SIGKILL');
      await once(parent, 'exit');
    }
  });

  it('a start that waits for the lock of the data folder can be stopped', async () => {
    const lock = await lockDataDir(folder, silent);
    lock.stopping();
    const abort = new AbortController();
    const waiting = lockDataDir(folder, () => abort.abort(new EngineError('Stopped while starting.')), abort.signal);
    await expect(waiting).rejects.toThrow('Stopped while starting.');
    lock.release();
  });
});

describe('takeLock', () => {
  it('exactly one of several racing processes gets the lock of a dead process', async () => {
    const racer = join(folder, 'racer.mjs');
    await writeFile(
      racer,
      `import { createInterface } from 'node:readline';
       import { takeLock } from ${JSON.stringify(join(root, 'engines', 'takelock.mjs'))};
       for await (const path of createInterface({ input: process.stdin })) {
         const inTheWay = ({ pid }) => { throw new Error(String(pid)); };
         console.log(await takeLock(path, inTheWay).then(() => process.pid, (error) => Number(error.message)));
       }`,
    );
    const racers = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [racer], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const answers = racers.map(({ stdout }) => createInterface({ input: stdout })[Symbol.asyncIterator]());
    try {
      for (let round = 0; round < 30; round += 1) {
        const path = join(folder, `lock${round}`);
        await writeFile(path, JSON.stringify({ pid: await deadPid(), started: '', id: round }));
        for (const { stdin } of racers) stdin.write(`${path}\n`);
        // Each process reports the holder of the lock: itself, or the one in the lock's content.
        const said = await Promise.all(answers.map(async (answer) => Number((await answer.next()).value)));
        expect(new Set(said).size).toBe(1);
      }
    } finally {
      for (const child of racers) child.kill('SIGKILL');
    }
  });

  it('releasing a lock does not remove the lock that another process now holds', async () => {
    const lock = await lockDataDir(folder, silent);
    await writeFile(join(folder, 'start.lock'), '{"pid":1}');
    lock.release();
    expect(await readFile(join(folder, 'start.lock'), 'utf8')).toBe('{"pid":1}');
  });

  it('a process that holds the lock can stop even when the lock file cannot be written', async () => {
    const lock = await lockDataDir(folder, silent);
    const { id } = JSON.parse(await readFile(join(folder, 'start.lock'), 'utf8')) as { id: string };
    // A folder where the file should go has the same effect as a full disk.
    await mkdir(join(folder, `start.lock.${id}.draft`, 'x'), { recursive: true });
    lock.stopping();
    lock.release();
    expect(await readdir(folder)).toEqual([`start.lock.${id}.draft`]);
  });
});

describe('ports', () => {
  it('freePort returns the preferred port when it is free, and another port otherwise', async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect([await isFree(port), await accepts(port)]).toEqual([false, true]);
    expect(await freePort(port)).not.toBe(port);
    server.close();
    await once(server, 'close');
    expect([await isFree(port), await accepts(port)]).toEqual([true, false]);
  });
});

describe('findMongod', () => {
  const { PATH, XDG_CACHE_HOME } = process.env;
  /** Puts a program on PATH that says that it is this version of mongod, and a folder for each version in the cache. */
  async function machineWith(onPath: string, ...cachedVersions: string[]): Promise<void> {
    await writeFile(join(folder, 'mongod'), `#!/bin/sh\necho db version v${onPath}\n`, { mode: 0o755 });
    for (const version of cachedVersions)
      await mkdir(join(folder, 'support-platform', 'engines', `mongod-${version}`), { recursive: true });
    Object.assign(process.env, { PATH: folder, XDG_CACHE_HOME: folder });
  }
  afterEach(() => {
    Object.assign(process.env, { PATH, XDG_CACHE_HOME });
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME'];
  });

  it.each<[string, string | undefined, string, string]>([
    ['a new folder takes the one on PATH', undefined, '8.0.4', 'PATH'],
    ['data of the version on PATH take that one', '8.0', '8.0.4', 'PATH'],
    ['data of the version before take the one on PATH', '7.0', '8.0.4', 'PATH'],
    ['data that are too old for the one on PATH take an older one', '6.0', '8.0.4', '6.0.5'],
    ['data that are too new for the one on PATH take a newer one', '8.0', '7.0.14', '8.0.13'],
  ])('a mongod is chosen that opens the data: %s', async (_label, data, onPath, expected) => {
    await machineWith(onPath, '8.0.13', '6.0.5');
    if (data !== undefined) await writeFile(join(folder, 'mongod.version'), data);
    const cachedAt = (version: string): string => join(folder, 'support-platform', 'engines', `mongod-${version}`);
    const path = expected === 'PATH' ? join(folder, 'mongod') : join(cachedAt(expected), 'mongod');
    expect(await findMongod(silent, folder)).toBe(path);
  });

  it('when no installed mongod can open the data, the error names the version to install', async () => {
    await machineWith('6.0.5', '8.0.13', '6.0.5');
    await writeFile(join(folder, 'mongod.version'), '8.2');
    await expect(findMongod(silent, folder)).rejects.toThrow(
      `The data in ${folder} are of MongoDB 8.2, and no mongod that opens them could be had. Install MongoDB 8.2, so that its mongod is on PATH.`,
    );
  });
});

describe('startMongod', () => {
  it('MongoDB finds its data when it starts on another port', async () => {
    for (const expected of [0, 1]) {
      const mongod = await startMongod({ dataDir: folder, port: await freePort(), report: silent, indexedOnly: true });
      const client = new MongoClient(mongod.uri);
      try {
        const things = client.db('x').collection('things');
        expect(await things.countDocuments()).toBe(expected);
        await things.insertOne({ a: 1 }, { writeConcern: { w: 'majority' } });
        // With `indexedOnly`, as in all tests, a query without an index fails unless it asks for a collection scan.
        await expect(things.findOne({ a: 1 })).rejects.toThrow('notablescan');
        expect(await things.findOne({ a: 1 }, everyRecord)).not.toBeNull();
        // A later start needs a mongod that opens data of this version.
        const { version } = await client.db('admin').command({ buildInfo: 1 });
        const [series] = /^\d+\.\d+/.exec(String(version)) ?? [];
        expect(await readFile(join(folder, 'mongod.version'), 'utf8')).toBe(series);
      } finally {
        await client.close();
        await mongod.stop();
      }
    }
  });

  it('the error for a taken MongoDB port is a clear sentence', async () => {
    const { port, close } = await listening(createServer());
    await expect(startMongod({ dataDir: folder, port, report: silent })).rejects.toThrow(EngineError);
    void close();
  });
});

describe('connectMongo', () => {
  it('the error for an unreachable MongoDB names the configuration variable and not the password', async () => {
    const uri = 'mongodb://somebody:secret@127.0.0.1:1/?replicaSet=rs0';
    const failure = await connectMongo(uri).catch((error: Error) => error.message);
    expect(failure).toMatch(/^MongoDB at 127\.0\.0\.1:1 does not answer \(.*ECONNREFUSED.*MONGODB_URI/);
    expect(failure).not.toContain('secret');
  });

  it('the error for a MongoDB connection string that cannot be parsed does not repeat that string', async () => {
    const failure = await connectMongo('mongodb://somebody:sec/ret@host').catch((error: Error) => error.message);
    expect(failure).toMatch(/^MONGODB_URI cannot be read\./);
    expect(failure).not.toMatch(/sec|ret@/);
  });

  it('a standalone MongoDB server is refused with a sentence that says what to do', async () => {
    const port = await freePort();
    const mongod = await startGuarded({
      command: await findMongod(silent),
      args: [`--port=${port}`, '--bind_ip=127.0.0.1', `--dbpath=${folder}`, '--nounixsocket'],
      logPath: join(folder, 'log'),
    });
    try {
      await expect(connectMongo(`mongodb://127.0.0.1:${port}/`)).rejects.toThrow(
        `MongoDB at 127.0.0.1:${port} is a single server, and transactions need a replica set.`,
      );
    } finally {
      await mongod.stop();
    }
  });
});

describe('findChromium', () => {
  /** A program that behaves like a browser. */
  async function browserAt(path: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '#!/bin/sh\necho Chromium 1\n', { mode: 0o755 });
    return path;
  }
  /** Finds the browser with these variables in a separate process, because puppeteer reads its settings only once. */
  async function find(env: Record<string, string>): Promise<string> {
    const code = `const { findChromium } = await import('./engines/chromium.ts');
      process.stdout.write(await findChromium(() => undefined));`;
    const nowhere = { PATH: folder, HOME: folder, XDG_CACHE_HOME: folder, PUPPETEER_SKIP_DOWNLOAD: '1' };
    const options = { cwd: root, env: { ...nowhere, PUPPETEER_CACHE_DIR: join(folder, 'puppeteer'), ...env } };
    const args = ['--input-type=module', '-e', code];
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  }
  /** The path where puppeteer looks for the browser of its version. */
  async function puppeteersPath(): Promise<string> {
    const code = `const { executablePath } = await import('puppeteer');
      process.stdout.write(await executablePath({ headless: 'shell' }));`;
    const env = { PATH: folder, HOME: folder, PUPPETEER_CACHE_DIR: join(folder, 'puppeteer') };
    const args = ['--input-type=module', '-e', code];
    return (await promisify(execFile)(process.execPath, args, { cwd: root, env })).stdout;
  }

  it('findChromium returns the configured browser, or else that of the system, the puppeteer cache or the package', async () => {
    const packaged = await browserAt(join(folder, 'support-platform/engines/chromium-153.0.0/chromium'));
    expect(await find({})).toBe(packaged);
    const own = await browserAt(await puppeteersPath());
    expect(await find({})).toBe(own);
    const system = await browserAt(join(folder, 'chromium'));
    expect(await find({})).toBe(system);
    const configured = await browserAt(join(folder, 'mine'));
    expect(await find({ PUPPETEER_EXECUTABLE_PATH: configured })).toBe(configured);
  });

  it('a browser in the puppeteer cache that does not run is skipped', async () => {
    const packaged = await browserAt(join(folder, 'support-platform/engines/chromium-153.0.0/chromium'));
    const own = await browserAt(await puppeteersPath());
    await writeFile(own, '#!/bin/sh\nexit 127\n');
    expect(await find({})).toBe(packaged);
  });
});

describe('startTemporal', () => {
  it('the start of Temporal on a taken port fails with an EngineError', async () => {
    const { port, close } = await listening(createServer());
    await expect(startTemporal({ port, report: silent })).rejects.toThrow(EngineError);
    void close();
  });

  it('Temporal uses a write-ahead log in its folder, and starts again with the same folder', async () => {
    const dataDir = join(folder, 'temporal');
    const temporal = await startTemporal({ dataDir, report: silent });
    const files = await readdir(dataDir);
    await temporal.stop();
    expect(files).toEqual(expect.arrayContaining(['temporal.db', 'temporal.db-wal']));
    const again = await startTemporal({ dataDir, report: silent });
    await again.stop();
  });

  it('lostPort recognizes the error that Temporal stopped because of a taken port, and not the error that Temporal started too slowly', () => {
    const taken = 'Its port is taken by another program.';
    const started = ['Temporal stopped while starting.', 'Temporal was not ready within 60 s.'];
    expect(started.map((said) => lostPort(new EngineError(`${said} ${taken}`)))).toEqual([true, false]);
  });

  it('Temporal tries another port when its port is taken during the start', async () => {
    const { port: uiPort, close } = await listening(createServer());
    const told: string[] = [];
    const temporal = await startTemporal({
      uiPort,
      report: (line) => {
        told.push(line);
        void close();
      },
    });
    await temporal.stop();
    expect(told).toEqual([expect.stringMatching('port is taken by another program. Temporal is started again.')]);
  });
});

describe('the environment of a worker', () => {
  const heapLimitMb = async (env: NodeJS.ProcessEnv): Promise<number> => {
    const script = 'console.log(v8.getHeapStatistics().heap_size_limit / 2 ** 20)';
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: workerEnv(env) });
    return Number(stdout);
  };

  it('the heap of a worker is limited on every machine, and options of the operator override the limit', async () => {
    // The limit counts the young generation too: three semi-spaces of 16 MiB.
    expect(await heapLimitMb({})).toBe(1024 + 3 * 16);
    expect(await heapLimitMb({ NODE_OPTIONS: '--max-old-space-size=700' })).toBe(700 + 3 * 16);
    expect(workerEnv({ MALLOC_ARENA_MAX: '8' })['MALLOC_ARENA_MAX']).toBe('8');
  });
});

describe('run.mjs', () => {
  it('a program started by run.mjs keeps its working directory, arguments and exit code', async () => {
    const entry = join(folder, 'entry.ts');
    await writeFile(
      entry,
      `const at: string = process.cwd(); console.log(at, ...process.argv.slice(2)); process.exitCode = 3;`,
    );
    const child = spawn(process.execPath, [join(root, 'engines', 'run.mjs'), entry, 'a', '--b'], { cwd: folder });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    const [code] = (await once(child, 'close')) as [number];
    expect([Buffer.concat(output).toString(), code]).toEqual([`${folder} a --b\n`, 3]);
  });

  describe('the packages that run.mjs installs', () => {
    const lockOf = (version: string) =>
      JSON.stringify({
        packages: { '': {}, 'node_modules/koa': { version }, 'node_modules/typescript': { version, dev: true } },
      });
    /**
     * A project with one entry for users and one for developers, and an npm that logs its arguments. Like the real
     * one, it writes its record at the end of an install.
     */
    beforeEach(async () => {
      for (const name of ['engines', 'bin', 'test']) await mkdir(join(folder, name));
      for (const name of ['run.mjs', 'takelock.mjs']) {
        await copyFile(join(root, 'engines', name), join(folder, 'engines', name));
      }
      await writeFile(join(folder, 'package-lock.json'), lockOf('1.0.0'));
      for (const entry of ['engines/start.ts', 'test/run.ts']) await writeFile(join(folder, entry), '');
      const npm = `#!/bin/sh
echo "$@" >> "$FOLDER/calls"
cd "$FOLDER"
packages=koa
case "$*" in *--include=dev*) packages="koa typescript";; esac
for package in $packages; do
  mkdir -p node_modules/$package
  echo '{}' > node_modules/$package/package.json
  [ ! -e early ] || exit 1
done
cp package-lock.json node_modules/.package-lock.json
`;
      await writeFile(join(folder, 'bin', 'npm'), npm, { mode: 0o755 });
    });
    /** Runs the entry and returns the arguments of each npm call. */
    async function callsOf(entry: string): Promise<string[]> {
      await rm(join(folder, 'calls'), { force: true });
      const { npm_execpath: _n, npm_lifecycle_event: _l, ...env } = process.env;
      await promisify(execFile)(process.execPath, [join(folder, 'engines', 'run.mjs'), entry], {
        env: { ...env, PATH: `${join(folder, 'bin')}:${env['PATH']}`, FOLDER: folder, TMPDIR: folder },
      });
      const calls = await readFile(join(folder, 'calls'), 'utf8').catch(() => '');
      return calls.split('\n').filter(Boolean);
    }

    it('npm start installs no development packages, and a later test run installs them', async () => {
      expect(await callsOf('engines/start.ts')).toEqual([expect.stringMatching(/^install --no-save .*--omit=dev/)]);
      expect(await callsOf('engines/start.ts')).toEqual([]);
      expect(await callsOf('test/run.ts')).toEqual([expect.stringMatching(/^install --no-save .*--include=dev/)]);
    });

    it('npm start after an install that ended early installs the packages again', async () => {
      await writeFile(join(folder, 'early'), '');
      await expect(callsOf('engines/start.ts')).rejects.toThrow('The packages could not be installed');
      await rm(join(folder, 'early'));
      expect(await callsOf('engines/start.ts')).toHaveLength(1);
    });

    it('npm start after a test run neither installs nor removes packages', async () => {
      await callsOf('test/run.ts');
      expect(await callsOf('engines/start.ts')).toEqual([]);
    });

    it('npm start after a change of the lock file keeps the development packages of an earlier test run', async () => {
      await callsOf('test/run.ts');
      await writeFile(join(folder, 'package-lock.json'), lockOf('2.0.0'));
      expect(await callsOf('engines/start.ts')).toEqual([expect.stringMatching(/^install --no-save .*--include=dev/)]);
      expect(await callsOf('test/run.ts')).toEqual([]);
    });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'the signal %s during the installation of packages also ends npm',
    async (signal) => {
      await mkdir(join(folder, 'engines'));
      await mkdir(join(folder, 'bin'));
      for (const name of ['run.mjs', 'takelock.mjs']) {
        await copyFile(join(root, 'engines', name), join(folder, 'engines', name));
      }
      await writeFile(join(folder, 'package-lock.json'), '{"packages":{"":{}}}');
      const npm = '#!/bin/sh\necho $$ > "$FOLDER/pid.new"\nmv "$FOLDER/pid.new" "$FOLDER/pid"\nexec sleep 600\n';
      await writeFile(join(folder, 'bin', 'npm'), npm, { mode: 0o755 });
      const { npm_execpath: _n, npm_lifecycle_event: _l, ...env } = process.env;
      const child = spawn(process.execPath, [join(folder, 'engines', 'run.mjs'), 'entry.ts'], {
        env: { ...env, PATH: `${join(folder, 'bin')}:${env['PATH']}`, FOLDER: folder, TMPDIR: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const said: Buffer[] = [];
      child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
      const pidOf = async () => Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => '0'));
      await until(async () => (await pidOf()) > 0);
      const pid = await pidOf();
      child.kill(signal);
      const [code] = (await once(child, 'close')) as [number];
      expect(Buffer.concat(said).toString()).toMatch(/stopped while the packages were being installed/);
      expect(code).toBe(128 + constants.signals[signal]);
      expect(isAlive(pid)).toBe(false);
      expect((await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([]);
    },
  );
});
