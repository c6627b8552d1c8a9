import { describe, expect, test } from 'vitest';
import { clientOf, trustedProxies } from '../../../src/daemon/http/client-address.ts';

const isTrusted = trustedProxies(['127.0.0.1', '::1', '10.1.0.0/16', '2001:db8::/32']);
const client = (remoteAddress: string, forwardedFor?: string) => {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return clientOf({ address: remoteAddress, headers }, isTrusted);
};

describe('the client of a request', () => {
  test.each([
    ['of an untrusted address, whatever it claims', '203.0.113.7', '198.51.100.1', '203.0.113.7', false],
    ['of a trusted proxy', '127.0.0.1', '198.51.100.1', '198.51.100.1', true],
    ['of a trusted network', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1', true],
    ['of a trusted IPv6 network', '2001:db8::7', '2001:db9::1', '2001:db9::1', true],
    ['appended to invented ones', '127.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1', true],
    ['before other trusted proxies', '127.0.0.1', '1.1.1.1, 198.51.100.1, 10.1.0.9', '198.51.100.1', true],
    ['that is no address', '127.0.0.1', 'x'.repeat(2000), '127.0.0.1', true],
    ['that is the proxy itself', '127.0.0.1', '127.0.0.1', '127.0.0.1', true],
    ['without the header', '::1', undefined, '::1', true],
    ['of the Unix socket, which is not trusted', 'unix', '198.51.100.1', 'unix', false],
    ['of a neighbour of a trusted network', '10.2.0.1', '198.51.100.1', '10.2.0.1', false],
  ])('%s', (_what, from, header, address, isProxied) => {
    expect(client(from, header)).toEqual({ address, isProxied });
  });

  test('of the Unix socket, if it is trusted', () => {
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    const trusted = clientOf({ address: 'unix', headers }, trustedProxies(['unix']));
    expect(trusted).toEqual({ address: '198.51.100.1', isProxied: true });
  });
});
