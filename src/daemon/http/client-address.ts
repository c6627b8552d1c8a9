import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Whether an address is that of a proxy whose `X-Forwarded-*` headers are trusted. */
export type IsTrustedProxy = (address: string) => boolean;

/** The address of those who connect to the Unix socket. */
export const unixClient = 'unix';

/** Who sent a request. */
export interface Client {
  address: string;
  /** Whether a trusted proxy sent it for them. */
  isProxied: boolean;
}

/** Matches addresses and networks, such as `127.0.0.1` and `10.0.0.0/8`, which are valid, and `unix`. */
export function trustedProxies(networks: readonly string[]): IsTrustedProxy {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (family === undefined) continue;
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  const isUnixTrusted = networks.includes(unixClient);
  return (peer) => {
    const address = plain(peer);
    if (address === unixClient) return isUnixTrusted;
    const family = familyOf(address);
    return family !== undefined && list.check(address, family);
  };
}

/**
 * The client of a request: who connected from `address`, or the one that a trusted proxy names. Each proxy appends the address that it was
 * called from, so the last one that is not a trusted proxy's counts; anything before it may be invented.
 */
export function clientOf(
  { address: peer, headers }: { address: string; headers: IncomingHttpHeaders },
  isTrusted: IsTrustedProxy,
): Client {
  const address = plain(peer);
  if (!isTrusted(address)) return { address, isProxied: false };
  const named = [headers['x-forwarded-for'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((name) => plain(name.trim()));
  const client = named.findLast((name) => !isTrusted(name));
  return { address: client !== undefined && isIP(client) !== 0 ? client : address, isProxied: true };
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}
