import { describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { addressOf, networkOf } from '../../api/http/address.ts';

describe('networkOf', () => {
  it.each([
    ['its IPv4 address', '192.0.2.7', '192.0.2.7'],
    ['its IPv4 address, also when that is written as IPv6', '::ffff:192.0.2.7', '192.0.2.7'],
    ['the /64 network of its IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['the same /64 network as another host in that network', '2001:0DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['its own /64 network, even beside a similar one', '2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['the /64 network of the loopback address ::1', '::1', '::/64'],
    ['the text “unknown” when that stands in place of its address', 'unknown', 'unknown'],
    ['an empty text when its address is missing', '', ''],
  ])('rate limits count a caller by %s', (_, address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('addressOf', () => {
  const from = (forwarded: string | undefined) =>
    ({
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: '198.51.100.1' },
    }) as unknown as IncomingMessage;

  it.each([
    ['that of the connection, whatever a header says, when there is no proxy', '192.0.2.7', false, '198.51.100.1'],
    ['the one that the proxy names', '192.0.2.7', true, '192.0.2.7'],
    [
      'the last one that the proxy names, because a caller can invent the others',
      '203.0.113.9, 192.0.2.7',
      true,
      '192.0.2.7',
    ],
    ['that of the connection, when the proxy names none', undefined, true, '198.51.100.1'],
    ['that of the connection, when the proxy names only blanks', ' , ', true, '198.51.100.1'],
    ['that of the connection, when the proxy names “unknown”', 'unknown', true, '198.51.100.1'],
    [
      'the one that the proxy names, without the port that some proxies add',
      '203.0.113.9, 192.0.2.7:50123',
      true,
      '192.0.2.7',
    ],
    ['the one that the proxy names, without brackets and port', '[2001:db8::1]:443', true, '2001:db8::1'],
    ['the one that the proxy names, without brackets', '[2001:db8::1]', true, '2001:db8::1'],
    [
      'the whole IPv6 address that the proxy names, although its end looks like a port',
      '2001:db8::1:443',
      true,
      '2001:db8::1:443',
    ],
  ])('the address of a caller is %s', (_, forwarded, trustProxy, address) => {
    expect(addressOf(from(forwarded), trustProxy)).toBe(address);
  });
});
