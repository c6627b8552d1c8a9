import { expect, test } from 'vitest';
import { isLoopback } from '../../../src/shared/http/loopback.ts';

test('this machine is never reached through a proxy', () => {
  const hosts = ['localhost', '127.0.0.1', '127.8.9.1', '[::1]', '0.0.0.0', '128.0.0.1', 'localhost.test'];
  expect(hosts.filter(isLoopback)).toEqual(hosts.slice(0, 4));
});
