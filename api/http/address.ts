/**
 * The caller's network address, and the part of the address by which rate limits are counted. A proxy's header is
 * trusted only when `config.trustProxy` is set.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The caller's address, without a port. With `trustProxy`, this is the last address in `X-Forwarded-For`, which the
 * nearest proxy adds. If that is no valid address, the address of the connection is returned.
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
 * The first 8 bytes of an IPv6 address identify its network. A host can use any address within its network (RFC 4291,
 * 2.5.4), so one IPv6 address does not identify a caller.
 */
const networkBytes = 8;

/**
 * The part of an address that identifies one subscriber: an IPv4 address, or the /64 network of an IPv6 address. Text
 * that is no address is returned unchanged.
 */
export function networkOf(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().fill(0, networkBytes);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
