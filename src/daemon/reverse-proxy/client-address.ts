import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { headerText, type ProxyClient } from './headers.ts';

/** Whether an address is that of a proxy whose `X-Forwarded-*` headers are trusted. */
export type IsTrustedProxy = (address: string) => boolean;

/** Matches addresses and networks, such as `127.0.0.1` and `10.0.0.0/8`, which are valid. */
export function trustedProxies(networks: readonly string[]): IsTrustedProxy {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (family === undefined) continue;
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = familyOf(address);
    return family !== undefined && list.check(address, family);
  };
}

/**
 * The client of a request: of the connection, or the one that a trusted proxy names. Each proxy appends the address that it was
 * called from, so the last one that is not a trusted proxy's counts; anything before it may be invented.
 */
export function clientOf(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  isTrusted: IsTrustedProxy,
): ProxyClient {
  const address = plain(socket.remoteAddress ?? '');
  if (!isTrusted(address)) return { address, isProxied: false };
  const named = headerText(headers['x-forwarded-for'])
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
