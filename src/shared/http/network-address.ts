/**
 * IP addresses as limits count them: a subscriber of IPv6 has at least a /64, and a provider of addresses a /48. IPv4
 * addresses in IPv6 form count as IPv4.
 */

const mappedIpv4 = /^::ffff:(?=\d+\.)/i;

/** The address of an IPv4 subscriber, or the /64 of one with IPv6, such as `2001:db8:1:2::/64`. */
export function subscriberNetwork(address: string): string {
  const plain = address.replace(mappedIpv4, '');
  if (!plain.includes(':') || plain === '::1') return plain;
  return networkOf(plain, 4);
}

/** The network around a subscriber: a /24 for IPv4, a /48 for IPv6. */
export function surroundingNetwork(address: string): string {
  const plain = address.replace(mappedIpv4, '');
  return plain.includes(':') ? networkOf(plain, 3) : plain.replace(/\.\d+$/, '.0/24');
}

/** The network of the first groups of 16 bits. Text other than an address is returned in some form, without failing. */
function networkOf(address: string, groups: number): string {
  const shown = ipv6Groups(address)
    .slice(0, groups)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
  return `${shown.join(':')}::/${groups * 16}`;
}

/** The groups of an IPv6 address as they are written, those that `::` leaves out included; a zone is dropped. */
export function ipv6Groups(address: string): string[] {
  const [left = '', right] = address.split('%', 1)[0]?.split('::') ?? [];
  const before = left === '' ? [] : left.split(':');
  const after = right ? right.split(':') : [];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(right === undefined ? [] : zeros), ...after];
}
