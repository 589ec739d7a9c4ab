import { describe, expect, it } from '@jest/globals';
import {
  hostPort,
  isEgressAllowed,
  isPublicHost,
  portOf,
  readEgressEntry,
} from '../../../models/rules/base/address.ts';

const hostOf = (host: string): string => new URL(`http://${host}/`).hostname;

describe('isPublicHost', () => {
  it.each([
    'example.com',
    'example.com.',
    'localdomain.example.com',
    'internal.example.com',
    'bücher.example',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '223.255.255.255',
    '[2606:2800:220:1:248:1893:25c8:1946]',
    '[2620:4f:8001::1]',
  ])('requests to the host %s are allowed, because it is no private name or address', (host) => {
    expect(isPublicHost(hostOf(host))).toBe(true);
  });

  it.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'intranet',
    'db.internal',
    'printer.local',
    'nas.home.arpa',
    'a.localdomain',
  ])('the host name %s is not public, because only a private network resolves it', (host) => {
    expect(isPublicHost(hostOf(host))).toBe(false);
  });
});

describe('readEgressEntry', () => {
  it.each([
    ['hooks.internal', 'hooks.internal', undefined],
    ['Hooks.Internal.', 'hooks.internal', undefined],
    ['hooks.internal:8080', 'hooks.internal', 8080],
    ['hooks.internal:80', 'hooks.internal', 80],
    ['127.1', '127.0.0.1', undefined],
    ['10.0.0.7:9000', '10.0.0.7', 9000],
    ['::1', '::1', undefined],
    ['[::1]', '::1', undefined],
    ['[0:0:0:0:0:0:0:1]:9000', '::1', 9000],
    ['bücher.internal', 'xn--bcher-kva.internal', undefined],
  ])('readEgressEntry parses the allowlist entry %s into the host name %s and the port %s', (text, hostname, port) => {
    expect(readEgressEntry(text)).toEqual({ hostname, port });
  });

  it.each([
    '',
    '*',
    '*.internal',
    '10.0.0.0/8',
    'http://a.internal',
    'a.internal/path',
    'a.internal:0',
    'a.internal:70000',
    'a.internal:http',
    'user@a.internal',
    'a b',
    '[::1',
    '%31.internal',
  ])('readEgressEntry refuses the allowlist entry %j', (text) => {
    expect(readEgressEntry(text)).toBeUndefined();
  });
});

describe('isEgressAllowed', () => {
  it.each([
    ['http://hooks.internal/', ['hooks.internal'], true],
    ['http://HOOKS.internal.:81/', ['hooks.internal'], true],
    ['http://hooks.internal:8080/', ['hooks.internal:8080'], true],
    ['http://hooks.internal/', ['hooks.internal:80'], true],
    ['https://hooks.internal/', ['hooks.internal:443'], true],
    ['http://hooks.internal:8081/', ['hooks.internal:8080'], false],
    ['http://hooks.internal:8081/', ['hooks.internal:8080', 'hooks.internal:8081'], true],
    ['http://a.hooks.internal/', ['hooks.internal'], false],
    ['http://internal/', ['hooks.internal'], false],
    ['http://2130706433/', ['127.0.0.1'], true],
    ['http://127.0.0.2/', ['127.0.0.1'], false],
    ['http://[::1]:3000/', ['::1'], true],
    ['http://[::ffff:127.0.0.1]/', ['127.0.0.1'], false],
    ['http://hooks.internal/', [], false],
  ])('a request to %s with the allowlist %j is allowed: %s', (text, allow, expected) => {
    const url = new URL(text);
    expect(isEgressAllowed(url.hostname, portOf(url), allow)).toBe(expected);
  });
});

describe('hostPort', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1:80'],
    ['example.com', 'example.com:80'],
    ['::1', '[::1]:80'],
  ])('the host %s on port 80 is written as %s', (host, expected) => expect(hostPort(host, 80)).toBe(expected));
});
