/** A loopback name server for tests. It answers A queries over UDP from a table and does nothing else. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export type TestDns = {
  port: number;
  /**
   * IPv4 addresses by name. The addresses of a list are returned one by one, the last one repeatedly. For a
   * name that is not in the table, the server answers "no such name".
   */
  names: Record<string, string[]>;
  /** The names that were queried, in order. A repeated query counts once. */
  asked: string[];
  close(): Promise<void>;
};

const headerBytes = 12;

/** The name in the question of a query, and the position where the question ends. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function answerTo(query: Buffer, address: string | undefined): Buffer {
  const { end } = questionOf(query);
  const header = Buffer.from(query.subarray(0, headerBytes));
  // Flags of a recursive answer: success or "no such name". It has one question and at most one answer.
  header.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  const question = query.subarray(headerBytes, end);
  if (address === undefined) return Buffer.concat([header, question]);
  // The answer: a pointer to the name of the question, type A, class IN, TTL 0, four bytes.
  const record = Buffer.from([0xc0, headerBytes, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]);
  return Buffer.concat([header, question, record]);
}

export async function startDns(): Promise<TestDns> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const dns: Pick<TestDns, 'names' | 'asked'> = { names: {}, asked };
  const given = new Map<string, string | undefined>();
  const addressFor = (name: string): string | undefined => {
    asked.push(name);
    const addresses = dns.names[name];
    return addresses && addresses.length > 1 ? addresses.shift() : addresses?.[0];
  };
  socket.on('message', (query, from) => {
    const { name } = questionOf(query);
    // A resolver repeats a query with the same id after a quarter of a second.
    const question = `${query.readUInt16BE(0)} ${name}`;
    if (!given.has(question)) given.set(question, addressFor(name));
    socket.send(answerTo(query, given.get(question)), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return Object.assign(dns, {
    port: socket.address().port,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  });
}
