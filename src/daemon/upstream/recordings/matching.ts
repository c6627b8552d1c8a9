import canonicalize from 'canonicalize';
import { maskJson } from '../../../shared/masking/mask-json.ts';

/** The parts of a request that are compared. */
export interface RecordedRequest {
  method: string;
  url: string;
  /** JSON, or text. */
  body?: unknown;
}

/** Top-level members that identify the caller and do not change the answer. */
const volatileMembers = ['user', 'safety_identifier', 'metadata', 'prompt_cache_key'];
/** Members with ids that differ from run to run: they are compared by order of first occurrence. */
const idMembers = ['id', 'call_id', 'tool_call_id', 'tool_use_id'];

const volatile = new Set(volatileMembers);
const ids = new Set(idMembers);

/** The same key for equivalent requests: the canonical JSON (RFC 8785) of what is compared. */
export function matchKey(actual: RecordedRequest): string {
  return `${actual.method} ${endpointOf(actual.url)}\n${canonicalize(comparable(actual.body)) ?? ''}`;
}

/** The body in the form that is compared. */
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
  return walk(maskJson(body), 0);
}

/** Host, path and sorted parameters without credentials. */
export function endpointOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname, searchParams } = new URL(url);
  const rest = [...searchParams].filter(([name]) => !/key|token|auth|sig|secret|password/i.test(name));
  const query = new URLSearchParams(rest.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `${host}${pathname}${query === '' ? '' : `?${query}`}`;
}

export interface Difference {
  /** A path such as `messages[1].content`, or `url` or `method`. */
  at: string;
  recorded: unknown;
  actual: unknown;
  /** How many parts are equal, to find the nearest recording. */
  equalParts: number;
}

/** The first difference between a request and a recorded one; undefined if there is none. */
export function firstDifference(recorded: RecordedRequest, actual: RecordedRequest): Difference | undefined {
  if (recorded.method !== actual.method)
    return { at: 'method', recorded: recorded.method, actual: actual.method, equalParts: 0 };
  const urls = { recorded: endpointOf(recorded.url), actual: endpointOf(actual.url) };
  if (urls.recorded !== urls.actual) return { at: 'url', ...urls, equalParts: 1 };
  const found: { first?: Omit<Difference, 'equalParts'>; equalParts: number } = { equalParts: 2 };
  compare(comparable(recorded.body), comparable(actual.body), '', found);
  return found.first && { ...found.first, equalParts: found.equalParts };
}

function compare(
  recorded: unknown,
  actual: unknown,
  at: string,
  found: { first?: Omit<Difference, 'equalParts'>; equalParts: number },
): void {
  if (isBranch(recorded) && isBranch(actual) && Array.isArray(recorded) === Array.isArray(actual)) {
    const [before, after] = [recorded as Record<string, unknown>, actual as Record<string, unknown>];
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const path = Array.isArray(recorded) ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`;
      compare(before[name], after[name], path, found);
    }
  } else if (canonicalize(recorded) === canonicalize(actual)) found.equalParts += 1;
  else found.first ??= { at: at === '' ? 'body' : at, recorded, actual };
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
