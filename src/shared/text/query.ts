import { parseTime } from '../time.ts';

/** Filters of calls, by the names of the parameters of `GET /v1/traces`. */
export interface CallFilters {
  status?: string;
  error_code?: string;
  endpoint?: string;
  model?: string;
  provider?: string;
  key?: string;
  client?: string;
  user?: string;
  conversation?: string;
  tag?: string;
  replay_of?: string;
  min_total_ms?: number;
  min_cost_usd?: string;
  since?: string;
  until?: string;
}

/** A query that could not be read, with a sentence that says why. */
export interface QueryFault {
  /** The part of the query that is wrong. */
  part: string;
  message: string;
}

/** The words before a colon, and what they filter by. */
const names: Readonly<Record<string, keyof CallFilters>> = {
  status: 'status',
  error: 'error_code',
  endpoint: 'endpoint',
  model: 'model',
  provider: 'provider',
  key: 'key',
  client: 'client',
  user: 'user',
  conversation: 'conversation',
  tag: 'tag',
  replay: 'replay_of',
  since: 'since',
  until: 'until',
};

export const queryWords: readonly string[] = Object.keys(names);

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/**
 * Reads a query such as `status:failed,canceled model:openai/gpt-5 tag:team=a >4s >$0.05 since:2h`. A value with spaces is in
 * quotation marks. `now` is in milliseconds since 1970.
 */
export function parseQuery(text: string, now: number): CallFilters | QueryFault {
  const filters: CallFilters = {};
  for (const part of partsOf(text)) {
    const fault = part.startsWith('>') ? readMinimum(part, filters) : readFilter(part, filters, now);
    if (fault !== undefined) return { part, message: fault };
  }
  return filters;
}

export function isQueryFault(parsed: CallFilters | QueryFault): parsed is QueryFault {
  return 'message' in parsed;
}

/** Splits at spaces outside quotation marks. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && /\s/.test(character)) {
      if (part !== '') parts.push(part);
      part = '';
    } else part += character;
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** Returns a sentence about what is wrong, if anything. */
function readFilter(part: string, filters: CallFilters, now: number): string | undefined {
  const end = part.indexOf(':');
  const word = part.slice(0, Math.max(0, end));
  const name = Object.hasOwn(names, word) ? names[word] : undefined;
  if (end < 0 || name === undefined)
    return `Write a filter such as status:failed, >4s or >$0.05. Filters are ${queryWords.join(', ')}.`;
  const value = part.slice(end + 1).replaceAll('"', '');
  if (value === '') return `${word}: needs a value.`;
  if (filters[name] !== undefined) return `${word}: can be given once.`;
  if (name !== 'since' && name !== 'until') {
    (filters as Record<string, string>)[name] = value;
    return undefined;
  }
  const time = timeIn(value, now);
  if (time === undefined) return `${word}: takes a time ago such as 2h or 7d, or one such as 2026-11-21.`;
  filters[name] = time;
  return undefined;
}

/** A time ago, `2h`, or a time as the daemon reads it. */
function timeIn(value: string, now: number): string | undefined {
  const ago = durationIn(value);
  if (ago !== undefined) return new Date(now - ago).toISOString();
  return parseTime(value) === undefined ? undefined : value;
}

/** `>4s` or `>$0.05` */
function readMinimum(part: string, filters: CallFilters): string | undefined {
  const value = part.slice(1);
  if (value.startsWith('$')) {
    const amount = value.slice(1);
    if (!/^\d{1,7}(\.\d{1,9})?$/.test(amount)) return 'Write a cost such as >$0.05.';
    if (filters.min_cost_usd !== undefined) return 'A cost can be given once.';
    filters.min_cost_usd = amount;
    return undefined;
  }
  const ms = durationIn(value);
  if (ms === undefined) return 'Write a duration such as >4s, or a cost such as >$0.05.';
  if (filters.min_total_ms !== undefined) return 'A duration can be given once.';
  filters.min_total_ms = ms;
  return undefined;
}

/** Milliseconds: `4s`, `1.5m`, `250ms`. */
function durationIn(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|min|m|h|d|w)$/.exec(text) ?? [];
  const length = unitsMs[unit];
  return number === undefined || length === undefined ? undefined : Math.round(Number(number) * length);
}
