/** A real mail server of a test file's own: takes any mail over SMTP, and shows over IMAP what it took. */
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { until } from './harness.ts';
import { accepts, freePort } from '../../engines/ports.ts';

export type GreenMail = {
  smtpPort: number;
  imapPort: number;
  /** The mails of a mailbox as they arrived, the oldest first, read over IMAP. */
  mailsOf(address: string): Promise<string[]>;
  close(): void;
};

/** Every mailbox that is read has this password. */
const password = 'secret';

/** `users`: those who can log in; without any, everybody can, with any password. */
export async function startGreenMail(users: readonly string[] = []): Promise<GreenMail> {
  const [smtpPort, imapPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const options = {
    'smtp.port': smtpPort,
    'smtp.hostname': '127.0.0.1',
    'imap.port': imapPort,
    'imap.hostname': '127.0.0.1',
    hostname: '127.0.0.1',
    'api.hostname': '127.0.0.1',
    'api.port': apiPort,
    ...(users.length === 0
      ? { 'auth.disabled': 'true' }
      : { users: users.map((user) => `${user.split('@')[0]}:${password}@${user.split('@')[1]}`).join(',') }),
    'users.login': 'email',
  };
  const flags = Object.entries(options).map(([name, value]) => `-Dgreenmail.${name}=${value}`);
  const jar = [
    '-Xmx192m',
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    ...flags,
    '-jar',
    process.env['TEST_GREENMAIL']!,
  ];
  const child = spawn('java', jar, { stdio: 'ignore' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  await until(async () => (await accepts(smtpPort)) && accepts(imapPort), 'the mail server to listen');
  return {
    smtpPort,
    imapPort,
    mailsOf: (address) => readMailbox(imapPort, address),
    close() {
      process.off('exit', kill);
      kill();
    },
  };
}

/** IMAP, as far as it takes to read all mails of an inbox (RFC 9051). */
async function readMailbox(port: number, address: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  try {
    const lines = replies(socket);
    await lines.after('*');
    socket.write(`a LOGIN "${address}" "${password}"\r\n`);
    await lines.after('a');
    socket.write('b SELECT INBOX\r\n');
    const selected = await lines.after('b');
    if (!/\* [1-9]\d* EXISTS/.test(selected)) return [];
    socket.write('c FETCH 1:* (BODY[])\r\n');
    return literalsIn(await lines.after('c'));
  } finally {
    socket.destroy();
  }
}

/** Gives what a server says up to and with the line that begins with this tag; fails when that line refuses. */
function replies(socket: Socket): { after(tag: string): Promise<string> } {
  let text = '';
  let broken: Error | undefined;
  socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  socket.on('error', (error) => (broken = error));
  const heard = async (tag: string): Promise<string | undefined> => {
    if (broken) throw broken;
    const outcome = /\r\n(\S+) (OK|NO|BAD)\b[^\r\n]*\r\n$/.exec(`\r\n${text}`);
    if (outcome?.[1] !== tag) return undefined;
    const said = text;
    text = '';
    if (outcome[2] !== 'OK') throw new Error(`the mail server said ${said}`);
    return said;
  };
  return {
    after: (tag) =>
      until(
        () => heard(tag),
        () => `the mail server to end ${tag}; it said ${text}`,
      ),
  };
}

/** What an answer holds as `{length}` and then as many bytes. */
function literalsIn(text: string): string[] {
  const found: string[] = [];
  for (let rest = text; ;) {
    const head = /\{(\d+)\}\r\n/.exec(rest);
    if (!head) return found;
    const from = head.index + head[0].length;
    found.push(Buffer.from(rest.slice(from, from + Number(head[1])), 'latin1').toString('utf8'));
    rest = rest.slice(from + Number(head[1]));
  }
}
