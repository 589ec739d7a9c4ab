/** A real mail server for one test file. It accepts any mail over SMTP and shows it over HTTP. */
import { spawn } from 'node:child_process';
import { z } from 'zod';
import { until } from './harness.ts';
import { accepts, freePort } from '../../engines/ports.ts';

export type GreenMail = {
  smtpPort: number;
  /** The mails of a mailbox, oldest first. Empty when the mailbox does not exist yet. */
  mailsOf(address: string): Promise<string[]>;
  close(): void;
};

/** The password of every user. */
const password = 'secret';

/** `users` are the people who can log in. Without any, everybody can, with any password. */
export async function startGreenMail(users: readonly string[] = []): Promise<GreenMail> {
  const [smtpPort, apiPort] = [await freePort(), await freePort()];
  const options = {
    'smtp.port': smtpPort,
    'smtp.hostname': '127.0.0.1',
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
  await until(async () => (await accepts(smtpPort)) && accepts(apiPort), 'the mail server to listen');
  return {
    smtpPort,
    mailsOf: (address) => mailsOf(apiPort, address),
    close() {
      process.off('exit', kill);
      kill();
    },
  };
}

/**
 * Reads over the HTTP API of the server and not over IMAP. An IMAP login creates the mailbox, and the server fails when
 * an arriving mail creates the same one.
 */
async function mailsOf(port: number, address: string): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/user/${encodeURIComponent(address)}/messages`);
  const body: unknown = await answer.json();
  if (answer.status === 400 && /not found/.test(refusal.parse(body).message)) return [];
  return messages.parse(body).map(({ mimeMessage }) => mimeMessage);
}

const refusal = z.object({ message: z.string() });
const messages = z.array(z.object({ mimeMessage: z.string() }));
