import { describe, expect, test } from 'vitest';
import {
  type AddressRules,
  addressProblem,
  guardedLookup,
  reachOf,
} from '../../../src/daemon/reverse-proxy/address-guard.ts';

const rules = (allowed: string[] = []): AddressRules => ({ allowed: () => allowed, ownPorts: () => [4100] });

describe('addresses', () => {
  test.each([
    ['169.254.169.254', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['::ffff:169.254.169.254', 'link-local'],
    ['::ffff:a9fe:a9fe', 'link-local'],
    ['64:ff9b::169.254.169.254', 'link-local'],
    ['2002:a9fe:a9fe::1', 'link-local'],
    ['100.100.100.200', 'link-local'],
    ['fd00:ec2::254', 'link-local'],
    ['127.0.0.1', 'private'],
    ['10.1.2.3', 'private'],
    ['172.31.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['0.0.0.0', 'private'],
    ['::', 'private'],
    ['::1', 'private'],
    ['fd12::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['224.0.0.1', 'private'],
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1', 'public'],
  ])('%s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });

  test('of this daemon are never allowed, others may be listed', () => {
    const ask = (address: string, port: number, allowed?: string[]) =>
      addressProblem(address, { port, mayBePrivate: true, rules: rules(allowed) });
    expect(ask('127.0.0.1', 4100, ['127.0.0.1'])).toMatch(/daemon itself/);
    expect(ask('::ffff:127.0.0.9', 4100)).toMatch(/daemon itself/);
    expect(ask('127.0.0.1', 9000)).toBeUndefined();
    expect(ask('169.254.1.1', 80)).toMatch(/link-local/);
    expect(ask('169.254.1.1', 80, ['169.254.1.1'])).toBeUndefined();
  });

  test('are checked after their name was resolved', async () => {
    const resolve = (name: string, { port = 9000, mayBePrivate = false, allowed = [] as string[] } = {}) =>
      new Promise((done) => {
        const lookup = guardedLookup({ port, mayBePrivate, rules: rules(allowed) });
        lookup(name, { all: false }, (error, address) => done(error ? error.message : address));
      });
    expect(await resolve('localhost')).toMatch(/private/);
    expect(await resolve('localhost', { mayBePrivate: true })).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(await resolve('localhost', { allowed: ['localhost'] })).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(await resolve('localhost', { port: 4100, allowed: ['localhost'] })).toMatch(/daemon itself/);
  });
});
