import { expect, test } from 'vitest';
import { subscriberNetwork, surroundingNetwork } from '../../../src/shared/http/network-address.ts';

test.each([
  ['10.0.0.7', '10.0.0.7', '10.0.0.0/24'],
  ['::ffff:10.0.0.7', '10.0.0.7', '10.0.0.0/24'],
  ['::1', '::1', '0:0:0::/48'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8:0001::5', '2001:db8:1:0::/64', '2001:db8:1::/48'],
  // The zeros are in the middle: five groups follow them.
  ['2001::2:3:4:5:6', '2001:0:0:2::/64', '2001:0:0::/48'],
  ['::2:3:4:5:6:7', '0:0:2:3::/64', '0:0:2::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
])('%s is in %s and in %s', (address, subscriber, surroundings) => {
  expect(subscriberNetwork(address)).toBe(subscriber);
  expect(surroundingNetwork(address)).toBe(surroundings);
});
