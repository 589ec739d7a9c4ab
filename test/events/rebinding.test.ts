/** The target of a delivery is checked when the connection is made: with a simulated name server and Internet. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { selfSigned } from '../kit/certificate.ts';
import { delivering } from '../kit/delivering.ts';
import { startDns, type TestDns } from '../kit/dns.ts';
import { lookupAt, simulateInternet } from '../kit/internet.ts';
import { receiversOfTest } from '../kit/receivers.ts';
import type { Lookup } from '../../clients/http/http.ts';
import { ticketLine } from '../../models/rules/events/delivery.ts';

/** An ordinary public address; the simulated Internet routes it to a local receiver. */
const publicAddress = '93.184.215.14';
const hostname = 'hooks.example';
const tls = { ...selfSigned([hostname]), hostname };

let dns: TestDns;
let lookup: Lookup;
beforeAll(async () => {
  await simulateInternet(publicAddress);
  dns = await startDns();
  lookup = lookupAt(dns.port);
});
afterAll(() => dns.close());
const { newOrg, newTicket, sendEvents, sendSome, deliveries } = delivering('rebinding', {
  http: { egressAllow: [], ca: tls.cert, lookup: (...args) => lookup(...args) },
});
const newReceiver = receiversOfTest();

/** Sends the events of a new ticket; returns their deliveries. */
async function send(url: string) {
  const orgId = await newOrg(url);
  const ticket = await newTicket(orgId);
  await sendEvents(ticket);
  await sendSome(orgId, ticketLine(ticket.ticketId, 'webhook'));
  return deliveries(orgId);
}
const closing = (): Parameters<typeof newReceiver> => [
  (_, response) => void response.writeHead(204, { connection: 'close' }).end(),
  tls,
];

it('a delivery to a public address over https is sent', async () => {
  const receiver = await newReceiver(...closing());
  dns.names = { [hostname]: [publicAddress] };
  expect((await send(receiver.url)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
});

it('when the DNS answer of a host name changes to a loopback address, no connection is made to that address', async () => {
  const receiver = await newReceiver(...closing());
  dns.names = { [hostname]: [publicAddress, '127.0.0.1'] };
  dns.asked.length = 0;
  const [created, escalated] = await send(receiver.url);
  // Each connection resolves the name once. The second one gets the loopback address and is refused.
  expect(dns.asked).toHaveLength(2);
  expect([created!.status, escalated!.status]).toEqual(['delivered', 'retrying']);
  expect(escalated!.error).toContain('private network');
  expect(receiver.received).toHaveLength(1);
});

it.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '192.168.1.1'])(
  'no connection is made to a host name that resolves to %s',
  async (address) => {
    const receiver = await newReceiver(...closing());
    dns.names = { [hostname]: [address] };
    const [created] = await send(receiver.url);
    expect([created!.status, created!.error]).toEqual(['retrying', expect.stringContaining('private network')]);
    expect(receiver.received).toEqual([]);
  },
);

it.each(['http://hooks.example/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/'])(
  'no delivery to the address %s is attempted, even if that address was stored as a destination',
  async (url) => {
    dns.asked.length = 0;
    const [created] = await send(url);
    expect(created).toMatchObject({ status: 'failed', error: expect.stringContaining('outbox_webhook_url must') });
    expect(dns.asked).toEqual([]);
  },
);
