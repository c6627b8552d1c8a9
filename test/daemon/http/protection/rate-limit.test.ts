import { expect, test } from 'vitest';
import { createRateLimit } from '../../../../src/daemon/http/protection/rate-limit.ts';

function limiter(options = {}) {
  const clock = { ms: 0 };
  return { clock, rate: createRateLimit({ burst: 2, perSecond: 4, elapsed: () => clock.ms, ...options }) };
}

test('an address can use its burst, then one token at a time', () => {
  const { clock, rate } = limiter();
  expect([rate.take('a'), rate.take('a'), rate.take('a')]).toEqual([0, 0, 1]);
  clock.ms += 250;
  expect([rate.take('a'), rate.take('a')]).toEqual([0, 1]);
});

test('a returned token can be used again, and no more than that', () => {
  const { rate } = limiter();
  rate.giveBack('a');
  expect([rate.take('a'), rate.take('a'), rate.take('a')]).toEqual([0, 0, 1]);
  rate.giveBack('a');
  expect([rate.take('a'), rate.take('a')]).toEqual([0, 1]);
  for (let i = 0; i < 5; i += 1) rate.giveBack('a');
  expect([rate.take('a'), rate.take('a'), rate.take('a')]).toEqual([0, 0, 1]);
});

test('a bucket never exceeds its burst', () => {
  const { clock, rate } = limiter();
  clock.ms += 3_600_000;
  expect([rate.take('a'), rate.take('a'), rate.take('a')]).toEqual([0, 0, 1]);
});

test('daemons that share a limit allow their parts of it, and one request at least', () => {
  let daemons = 2;
  const { clock, rate } = limiter({ burst: 4, perSecond: 4, sharedBy: () => daemons });
  expect([rate.take('a'), rate.take('a'), rate.take('a')]).toEqual([0, 0, 1]);
  clock.ms += 500;
  expect([rate.take('a'), rate.take('a')]).toEqual([0, 1]);
  daemons = 8;
  expect([rate.take('b'), rate.take('b')]).toEqual([0, 2]);
});

test('rejections consume nothing', () => {
  const { clock, rate } = limiter();
  for (let i = 0; i < 100; i += 1) rate.take('a');
  clock.ms += 250;
  expect(rate.take('a')).toBe(0);
});

test('addresses have separate buckets, except those of one IPv6 network', () => {
  const { rate } = limiter({ burst: 1 });
  expect([rate.take('10.0.0.1'), rate.take('10.0.0.2'), rate.take('::ffff:10.0.0.3')]).toEqual([0, 0, 0]);
  expect(rate.take('2001:db8:1:2:aaaa::1')).toBe(0);
  expect(rate.take('2001:db8:1:2:bbbb::2')).toBe(1);
  expect(rate.take('2001:db8:1:3::1')).toBe(0);
  expect(rate.take('2001:db8::1')).toBe(0);
  expect(rate.take('2001:db8::2')).toBe(1);
  expect(rate.take('::1')).toBe(0);
});

test('the number of tracked addresses is limited, least recently seen dropped first', () => {
  const { rate } = limiter({ burst: 1, addressesMax: 2 });
  rate.take('a');
  rate.take('b');
  rate.take('a');
  rate.take('c');
  expect(rate.take('a')).toBe(1);
  expect(rate.take('b')).toBe(0);
});
