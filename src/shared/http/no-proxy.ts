import { ipv6Groups } from './network-address.ts';

interface Destination {
  /** As `URL` has it: lowercase, IPv6 in brackets. */
  hostname: string;
  /** Of the URL, or that of its scheme. */
  port: string;
}

interface Known {
  host: string;
  port: string;
  /** Undefined for a name. */
  address: readonly number[] | undefined;
}

type Rule = (destination: Known) => boolean;

/**
 * Returns which hosts `NO_PROXY` lists: names with their subdomains, addresses, networks such as `10.0.0.0/8` and patterns such as
 * `10.*`, each optionally with `:PORT`, or `*` for all. Source: what curl and Go understand, and patterns, which people write.
 */
export function bypassOf(except: string): (destination: Destination) => boolean {
  const rules = except
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .map(ruleOf);
  return ({ hostname, port }) => {
    const host = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
    const destination = { host, port, address: wordsOf(host) };
    return rules.some((rule) => rule(destination));
  };
}

function ruleOf(entry: string): Rule {
  if (entry === '*') return () => true;
  const network = networkOf(entry);
  if (network) return ({ address }) => address !== undefined && network(address);
  // An IPv6 address has its port after brackets only.
  const isBare = wordsOf(entry) !== undefined;
  const [, given = entry, port] = isBare ? [] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
  const name = given.replace(/^\[|\]$/g, '');
  const matches = matcherOf(name);
  return (destination) => (port === undefined || port === destination.port) && matches(destination);
}

function matcherOf(name: string): Rule {
  const domain = name.replace(/^\*?\./, '');
  if (domain.includes('*')) {
    const expression = asExpression(name);
    return ({ host }) => expression.test(host);
  }
  const words = wordsOf(domain)?.join();
  if (words !== undefined) return ({ address }) => address?.join() === words;
  return ({ host, address }) => host === domain || (address === undefined && host.endsWith(`.${domain}`));
}

/** Whether addresses are in a network such as `10.0.0.0/8`; undefined if the text is none. */
function networkOf(entry: string): ((address: readonly number[]) => boolean) | undefined {
  const [start = '', length = '', ...more] = entry.split('/');
  const words = wordsOf(start);
  if (words === undefined || more.length > 0 || !/^\d{1,3}$/.test(length)) return undefined;
  const bits = Number(length);
  if (bits > words.length * wordBits) return undefined;
  return (address) =>
    address.length === words.length &&
    words.every((word, at) => {
      const free = Math.min(wordBits, Math.max(0, (at + 1) * wordBits - bits));
      return word >> free === (address[at] as number) >> free;
    });
}

const wordBits = 16;

/** An IPv4 address as two numbers of 16 bits, an IPv6 address as eight; undefined for other texts. */
function wordsOf(text: string): number[] | undefined {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) {
    const bytes = text.split('.').map(Number) as [number, number, number, number];
    if (bytes.some((byte) => byte > 255)) return undefined;
    return [bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]];
  }
  if (!text.includes(':') || !URL.canParse(`http://[${text}]`)) return undefined;
  const groups = ipv6Groups(new URL(`http://[${text}]`).hostname.slice(1, -1));
  return groups.map((group) => Number.parseInt(group, 16));
}

function asExpression(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replaceAll(/[^\w-]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]*')}$`);
}
