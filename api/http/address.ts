/**
 * Where a request comes from: the caller's address, and the part of it that limits count by. A proxy's headers are
 * trusted only when that is configured.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The caller's address. Behind a proxy it is the address that the nearest proxy names, if that is valid; some proxies
 * add the port.
 */
export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined;
  const nearest = String(forwarded ?? '')
    .split(',')
    .at(-1)!
    .trim()
    .replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');
  return isIP(nearest) ? nearest : (request.socket.remoteAddress ?? '');
}

/**
 * The bytes of an IPv6 address that name a network; inside it a host can take as many addresses as it likes (RFC 4291,
 * 2.5.4).
 */
const networkBytes = 8;

/**
 * What stands for one subscriber: an IPv4 address, or the /64 of an IPv6 one. Text that is not an address stands for
 * itself.
 */
export function networkOf(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().fill(0, networkBytes);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
