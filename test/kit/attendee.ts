/** Signs request bodies as Attendee does, with Python's `json` and `hmac`. */
import { spawnSync } from 'node:child_process';

export const attendeeSecret = Buffer.from('a webhook secret of Attendee').toString('base64');

function python(script: string, input: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, ...args], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`python3: ${stderr}`);
  return stdout;
}

const printed = 'json.dumps(json.load(sys.stdin), sort_keys=True, ensure_ascii=False, separators=(",", ":"))';
const begin = 'import base64, hashlib, hmac, json, sys; sys.stdin.reconfigure(encoding="utf-8");';

export const canonicalByPython = (text: string): string =>
  python(`${begin} sys.stdout.buffer.write(${printed}.encode())`, text);

/** The headers with which Attendee signs a body. */
export const signedByAttendee = (body: string, secret = attendeeSecret) => ({
  'content-type': 'application/json',
  'x-webhook-signature': python(
    `${begin} print(base64.b64encode(hmac.new(base64.b64decode(sys.argv[1]), ${printed}.encode(), hashlib.sha256).digest()).decode(), end="")`,
    body,
    secret,
  ),
});
