/**
 * Starts one headless Chromium that has no network access of its own, watches the memory of its processes, and ends
 * these processes. clients/crawl/render/tab.ts renders pages in the browser.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'puppeteer';
import { residentMb } from '../../base/sandbox.ts';

export type BrowserOptions = {
  executablePath: string;
  /** Limit of resident memory for each process of the browser, in MiB. A process that exceeds it is killed. */
  memoryMb: number;
  /** Limit of the JavaScript heap of one page, in MiB. */
  heapMb: number;
  /** Whether Chromium's own sandbox is on. It needs user namespaces and a user other than root. */
  sandbox: boolean;
  startTimeoutMs: number;
};

export type RunningBrowser = {
  browser: Browser;
  /** Whether a process of the browser was killed for exceeding the memory limit. */
  outOfMemory(): boolean;
  /** Ends all processes of the browser and removes its files; resolves when they are gone. Idempotent. */
  end(): Promise<void>;
};

/**
 * The interval of memory checks, in ms. A check takes about 1 ms. Between two checks a page can grow by about 100 MiB.
 */
const memoryPollMs = 200;
/** How long a browser may take to close by itself, in ms. It needs about 100 ms unless a page hangs. */
const closeWithinMs = 1_000;
/**
 * The longest wait, in ms, for a killed process to end. A killed process normally ends in milliseconds, unless it is in
 * an uninterruptible kernel call.
 */
const goneWithinMs = 5_000;

/**
 * Flags that cut the browser off from the network, because traffic.ts answers all of its requests. A request that
 * bypassed traffic.ts would go to a proxy whose name does not resolve, even for loopback addresses. The browser
 * resolves no names and sends no UDP.
 */
const isolation = [
  '--proxy-server=http://egress.invalid:1',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--no-pings',
  '--disable-domain-reliability',
];

/** Flags that turn off features that are only useful to a person at a screen. */
const plain = [
  '--disable-gpu',
  '--mute-audio',
  '--blink-settings=imagesEnabled=false',
  '--disable-remote-fonts',
  '--block-new-web-contents',
  '--deny-permission-prompts',
  '--disable-crash-reporter',
  // In containers /dev/shm often has only 64 MiB, which is too small for Chromium.
  '--disable-dev-shm-usage',
];

/**
 * The ids of a process and all its descendants, the deepest first. Where /proc does not exist, only the process itself.
 */
export function processTree(pid: number): number[] {
  const children: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const line = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
      children.push(...line.split(' ').filter(Boolean).map(Number));
    }
  } catch {
    // The process ended during the check.
  }
  return [...children.flatMap(processTree), pid];
}

function running(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process (dead, but not yet reaped) still accepts the signal, but does not count as running.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/**
 * Starts a browser with an empty profile and environment. This process controls the browser over a pipe, so the browser
 * ends when this process ends. @throws the error that kept the browser from starting.
 */
export async function startBrowser(options: BrowserOptions): Promise<RunningBrowser> {
  const { executablePath, memoryMb, heapMb, sandbox, startTimeoutMs } = options;
  const profile = await mkdtemp(join(tmpdir(), 'render-'));
  const removeProfile = (): Promise<void> => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  let browser: Browser;
  try {
    // Puppeteer is loaded lazily, because most workers never start a browser.
    const { launch } = await import('puppeteer');
    browser = await launch({
      executablePath,
      headless: true,
      pipe: true,
      userDataDir: profile,
      timeout: startTimeoutMs,
      // Puppeteer's own time limit for commands is off, because each page has a time limit (`timeoutMs` in limits.ts).
      protocolTimeout: 0,
      waitForInitialPage: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: profile, TMPDIR: profile },
      args: [...isolation, ...plain, `--js-flags=--max-old-space-size=${heapMb}`, ...(sandbox ? [] : ['--no-sandbox'])],
    });
  } catch (error) {
    await removeProfile().catch(() => undefined);
    throw error;
  }

  const pid = browser.process()?.pid;
  const seen = new Set<number>(pid === undefined ? [] : [pid]);
  let over = false;
  const watch = setInterval(() => {
    if (pid === undefined) return;
    for (const each of processTree(pid)) {
      seen.add(each);
      if ((residentMb(each) ?? 0) <= memoryMb) continue;
      over = true;
      kill(each);
    }
  }, memoryPollMs);

  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    clearInterval(watch);
    // The descendants are listed before the first process ends, because afterwards they cannot be found any more.
    const all = new Set([...(pid === undefined ? [] : processTree(pid)), ...[...seen].filter(belongs(profile))]);
    // A browser that is asked to close reaps its own processes. If it were only killed, they would stay as zombies on a
    // system where no init process reaps orphans.
    if (browser.connected) await Promise.race([browser.close().catch(() => undefined), sleep(closeWithinMs)]);
    for (const each of all) kill(each);
    const deadline = performance.now() + goneWithinMs;
    while ([...all].some(running) && performance.now() < deadline) await sleep(10);
    // Best effort: the operating system cleans up what remains in its temporary folder.
    await removeProfile().catch(() => undefined);
  };
  return { browser, outOfMemory: () => over, end: () => (ending ??= end()) };
}

/** Whether a process id seen earlier still belongs to this browser. The system may have reused the id meanwhile. */
function belongs(profile: string): (pid: number) => boolean {
  return (pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(profile);
    } catch {
      return false;
    }
  };
}
