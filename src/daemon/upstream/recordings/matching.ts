import canonicalize from 'canonicalize';
import { withoutSecretsDeep } from './secrets.ts';

/** What a request is told from others by. */
export interface Asked {
  method: string;
  url: string;
  /** JSON, or text. */
  body: unknown;
}

/** Members at the top of a body that say who asks and not what is asked. */
const volatileMembers = ['user', 'safety_identifier', 'metadata', 'prompt_cache_key'];
/** Members with names that differ from run to run: each is told by when it comes up first. */
const idMembers = ['id', 'call_id', 'tool_call_id', 'tool_use_id'];

const volatile = new Set(volatileMembers);
const ids = new Set(idMembers);

/** Requests that are the same to a provider have the same key: canonical text (RFC 8785) of what matters. */
export function matchKey(asked: Asked): string {
  return `${asked.method} ${placeOf(asked.url)}\n${canonicalize(comparable(asked.body)) ?? ''}`;
}

/** The body as it is compared. */
export function comparable(body: unknown): unknown {
  const seen = new Map<string, string>();
  const walk = (value: unknown, depth: number): unknown => {
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (depth === 0 && volatile.has(name)) continue;
      if (ids.has(name) && typeof member === 'string') {
        if (!seen.has(member)) seen.set(member, `#${seen.size + 1}`);
        members.push([name, seen.get(member)]);
      } else members.push([name, walk(member, depth + 1)]);
    }
    return Object.fromEntries(members);
  };
  return walk(withoutSecretsDeep(body, []), 0);
}

/** Host, path and the parameters that are no credentials, in order. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname, searchParams } = new URL(url);
  const rest = [...searchParams].filter(([name]) => !/key|token|auth|sig|secret|password/i.test(name));
  const query = new URLSearchParams(rest.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `${host}${pathname}${query === '' ? '' : `?${query}`}`;
}

export interface Difference {
  /** Where, as `messages[1].content`; `url` or `method`. */
  at: string;
  recorded: unknown;
  asked: unknown;
  /** How many parts are the same, to tell the nearest. */
  alike: number;
}

/** The first thing in which a request is not the recorded one; undefined where nothing is. */
export function firstDifference(recorded: Asked, asked: Asked): Difference | undefined {
  if (recorded.method !== asked.method)
    return { at: 'method', recorded: recorded.method, asked: asked.method, alike: 0 };
  const [there, here] = [placeOf(recorded.url), placeOf(asked.url)];
  if (there !== here) return { at: 'url', recorded: there, asked: here, alike: 1 };
  const found: { first?: Omit<Difference, 'alike'>; alike: number } = { alike: 2 };
  compare(comparable(recorded.body), comparable(asked.body), '', found);
  return found.first && { ...found.first, alike: found.alike };
}

function compare(
  recorded: unknown,
  asked: unknown,
  at: string,
  found: { first?: Omit<Difference, 'alike'>; alike: number },
): void {
  if (isBranch(recorded) && isBranch(asked) && Array.isArray(recorded) === Array.isArray(asked)) {
    const [there, here] = [recorded as Record<string, unknown>, asked as Record<string, unknown>];
    for (const name of new Set([...Object.keys(there), ...Object.keys(here)])) {
      const place = Array.isArray(recorded) ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`;
      compare(there[name], here[name], place, found);
    }
  } else if (canonicalize(recorded) === canonicalize(asked)) found.alike += 1;
  else found.first ??= { at: at === '' ? 'body' : at, recorded, asked };
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
