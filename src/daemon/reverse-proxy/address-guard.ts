import { type LookupAddress, lookup as lookUpName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ipv6Groups } from '../../shared/http/network-address.ts';

/** Rules for where the reverse proxy may connect to. */
export interface AddressRules {
  /** Host names and addresses that are allowed whatever they resolve to. */
  allowed: () => readonly string[];
  /** The ports of this daemon's own listeners. */
  ownPorts: () => readonly number[];
}

/** Why the proxy does not connect; the message continues a sentence about the address. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

type Reach = 'link-local' | 'private' | 'public';

const linkLocal = listOf([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  // Metadata services outside the link-local range.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  ['fd00:ec2::254', 128],
]);

const privateNetworks = listOf([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 127],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
]);

function listOf(networks: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) {
    list.addSubnet(address, bits, address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** IPv4 addresses within IPv6: mapped, NAT64 and 6to4. */
function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  // The URL parser writes every form of an address in one way.
  const text = new URL(`http://[${withoutZone(address)}]`).hostname.slice(1, -1);
  const groups = ipv6Groups(text).map((group) => Number.parseInt(group, 16));
  const from = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const [a, b, c] = groups;
  const isMapped =
    groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0xffff || groups[5] === 0);
  if (isMapped && (groups[6] !== 0 || (groups[7] ?? 0) > 1)) return from(groups[6] ?? 0, groups[7] ?? 0);
  if (a === 0x64 && b === 0xff9b) return from(groups[6] ?? 0, groups[7] ?? 0);
  return a === 0x2002 ? from(b ?? 0, c ?? 0) : undefined;
}

/** `fe80::1%eth0` → `fe80::1`. */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}

/** How far an IP address reaches. */
export function reachOf(address: string): Reach {
  const plain = withoutZone(address);
  const inner = embeddedIpv4(plain);
  if (inner !== undefined) return reachOf(inner);
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  if (linkLocal.check(plain, family)) return 'link-local';
  return privateNetworks.check(plain, family) ? 'private' : 'public';
}

function isOwnAddress(address: string): boolean {
  const plain = embeddedIpv4(address) ?? address;
  if (/^(127\.|0\.)/.test(plain) || plain === '::1' || plain === '::') return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === plain));
}

/** Why an address cannot be the upstream of a paywall; undefined if it can. */
export function addressProblem(
  address: string,
  { port, mayBePrivate, rules }: { port: number; mayBePrivate: boolean; rules: AddressRules },
): string | undefined {
  if (rules.ownPorts().includes(port) && isOwnAddress(address)) return 'is this daemon itself';
  const allowed = rules.allowed();
  if (allowed.includes(address)) return undefined;
  const reach = reachOf(address);
  if (reach === 'link-local') {
    return 'is a link-local or metadata address, which `paywalls.allowed_upstreams` does not list';
  }
  if (reach === 'private' && !mayBePrivate) {
    return 'is a private address, which only the owner of the host may choose';
  }
  return undefined;
}

/** The same for a URL; names are only checked once they are resolved, for each connection. */
export function upstreamProblem(
  url: string,
  { mayBePrivate, rules }: { mayBePrivate: boolean; rules: AddressRules },
): string | undefined {
  if (!URL.canParse(url)) return 'is not a valid URL';
  const parsed = new URL(url);
  const host = plainHost(parsed);
  const port = portOf(parsed);
  if (port === 0) return 'is not a valid URL';
  if (isIP(host)) return addressProblem(host, { port, mayBePrivate, rules });
  if (host !== 'localhost' && !host.endsWith('.localhost')) return undefined;
  return addressProblem('127.0.0.1', { port, mayBePrivate, rules });
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** The host name without the brackets of IPv6. */
export function plainHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Resolves names to addresses that are allowed, so that a name cannot lead to another address after its check. */
export function guardedLookup({
  port,
  mayBePrivate,
  rules,
}: {
  port: number;
  mayBePrivate: boolean;
  rules: AddressRules;
}): LookupFunction {
  return (hostname, options, callback) => {
    const family = options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 ? 6 : 0;
    lookUpName(hostname, { all: true, family, order: 'verbatim' }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const isNameAllowed = rules.allowed().includes(hostname);
      const problems = found.map(({ address }) => {
        const problem = addressProblem(address, { port, mayBePrivate, rules });
        return isNameAllowed && problem !== 'is this daemon itself' ? undefined : problem;
      });
      const problem = problems.find((each) => each !== undefined);
      const first = found[0];
      if (problem !== undefined) return callback(new AddressRefused(problem), []);
      if (first === undefined) return callback(new Error('the name has no address'), []);
      if (options.all) return callback(null, found);
      return callback(null, first.address, first.family);
    });
  };
}

/** Why a URL cannot be the address of a peer, as the end of a sentence. Names are checked when they are resolved. */
export function peerAddressProblem(
  url: URL,
  { mayBePrivate }: { mayBePrivate: boolean },
  ownPort: number,
): string | undefined {
  const host = plainHost(url);
  const address = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : host;
  if (!isIP(address)) return undefined;
  if (portOf(url) === ownPort && isOwnAddress(address)) return 'is this daemon itself';
  const reach = reachOf(address);
  if (reach === 'link-local') return 'is a link-local or metadata address';
  if (reach === 'private' && !mayBePrivate) {
    return 'is a private address, which only the owner of the host may choose';
  }
  return undefined;
}

/** Resolves names to public addresses only. */
export function publicLookup(): LookupFunction {
  return guardedLookup({ port: 0, mayBePrivate: false, rules: { allowed: () => [], ownPorts: () => [] } });
}
