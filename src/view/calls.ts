import { ownValue } from '../shared/json/json-object.ts';
import type { CallRow } from './call-row.ts';
import { ago, duration } from './durations.ts';
import type { Field, Tone } from './field.ts';
import { callerText, type KeyNames } from './key-names.ts';
import { briefDollars, dollars } from './money.ts';
import { briefCount, briefRate, count, tokenRate } from './numbers.ts';
import { clockTime, shortDay } from './times.ts';

/** What the text of a call depends on. */
export interface CallContext {
  /** In milliseconds since 1970. */
  now: number;
  keyNames: KeyNames;
}

export interface CallField extends Field<CallRow, CallContext> {
  /**
   * Which lists have it as a column: those of calls as they run (Live of the page, Calls of the TUI), those of ended calls
   * (Calls of the page, `gateway calls`), or both. CSV has all, and on the page all can be chosen.
   */
  lists?: 'live' | 'ended' | 'both';
  /** Shown by the page before columns are chosen. */
  isUsual?: true;
}

const tones = {
  completed: 'good',
  running: 'busy',
  incomplete: 'warn',
  canceled: 'warn',
  interrupted: 'warn',
  failed: 'bad',
  rejected: 'bad',
} as const;

/** The colour of the status of a call. */
export function toneOfCall({ status }: { status: string }): Tone | undefined {
  return ownValue<Tone>(tones, status);
}

/** Whether tokens and cost would mean nothing: a running call has none before its first progress. */
function hasNoAnswer({ status, ttftMs }: CallRow): boolean {
  return (status === 'running' && ttftMs === null) || status === 'rejected';
}

type TokenKind = 'input' | 'cached_input' | 'cache_write' | 'output' | 'reasoning';

const tokensOf = (name: TokenKind, label: string): CallField => {
  const text = (row: CallRow, format: (number: number) => string) =>
    row.trace && !hasNoAnswer(row) ? format(row.trace.tokens[name]) : '–';
  return {
    name,
    label,
    unit: 'count',
    value: ({ trace }) => trace?.tokens[name],
    text: (row) => text(row, briefCount),
    exact: (row) => text(row, count),
  };
};

/** What a call has. A further field is shown by all clients. */
export const callFields: readonly CallField[] = [
  { name: 'request_id', value: ({ id }) => id },
  {
    name: 'created_at',
    label: 'time',
    lists: 'live',
    width: 8,
    value: ({ at }) => at,
    text: ({ at }, { now }) => shortDay(at, now) ?? clockTime(at),
  },
  {
    name: 'completed_at',
    label: 'ended',
    lists: 'ended',
    isUsual: true,
    isWhole: true,
    value: ({ trace }) => trace?.completed_at,
    text: ({ trace }, { now }) => ago(trace?.completed_at, now),
  },
  {
    name: 'status',
    lists: 'both',
    isUsual: true,
    isWhole: true,
    width: 15,
    value: ({ errorCode, status }) => errorCode ?? status,
    tone: toneOfCall,
  },
  {
    name: 'model',
    lists: 'both',
    isUsual: true,
    width: 18,
    value: ({ model }) => model || null,
    // A rejected call may have named none.
    text: ({ model, endpoint }) => model || endpoint || '–',
  },
  {
    name: 'key',
    lists: 'both',
    isUsual: true,
    width: 11,
    spare: 1,
    value: ({ key }) => key,
    text: (row, { keyNames }) => callerText(row, keyNames),
  },
  { name: 'client', lists: 'ended', value: ({ trace }) => trace?.client },
  { name: 'provider', lists: 'both', width: 11, spare: 5, value: ({ provider }) => provider },
  { name: 'served_model', value: ({ trace }) => trace?.served_model },
  { name: 'user', value: ({ trace }) => trace?.user },
  { name: 'conversation', value: ({ trace }) => trace?.conversation },
  {
    name: 'tags',
    // Daemons of earlier versions lack them.
    value: ({ trace }) =>
      Object.entries(trace?.tags ?? {})
        .map((tag) => tag.join('='))
        .join(',') || null,
  },
  { name: 'endpoint', lists: 'ended', value: ({ endpoint }) => endpoint },
  { name: 'address', lists: 'ended', value: ({ address }) => address },
  {
    name: 'hooks',
    // Calls that had to pass none lack them.
    value: ({ trace }) => trace?.hooks?.map(({ name, result }) => `${name} ${result}`).join(', ') || null,
  },
  { name: 'attempts', lists: 'ended', unit: 'count', value: ({ trace }) => trace?.attempts.length },
  {
    name: 'tokens',
    lists: 'live',
    unit: 'count',
    width: 11,
    spare: 4,
    value: (row) => (hasNoAnswer(row) ? null : row.inputTokens + row.outputTokens),
    text: (row) => tokensText(row, briefCount, '→'),
    exact: (row) => tokensText(row, count, ' → '),
  },
  tokensOf('input', 'in'),
  tokensOf('cached_input', 'cached'),
  tokensOf('cache_write', 'written'),
  tokensOf('output', 'out'),
  tokensOf('reasoning', 'reasoning'),
  {
    name: 'cost_usd',
    lists: 'both',
    isUsual: true,
    unit: 'usd',
    width: 9,
    spare: 3,
    value: ({ costUsd }) => costUsd,
    text: (row) => costText(row, briefDollars),
    exact: (row) => costText(row, isCounting(row) ? (usd) => `≈${dollars(usd)}` : dollars),
  },
  {
    name: 'first_token_ms',
    label: 'first',
    lists: 'both',
    unit: 'ms',
    width: 7,
    spare: 6,
    value: ({ ttftMs }) => ttftMs,
    text: ({ ttftMs }) => duration(ttftMs),
  },
  {
    name: 'tokens_per_second',
    label: 'tok/s',
    unit: 'rate',
    value: ({ trace }) => trace && tokenRate(trace),
    text: ({ trace }) => briefRate(trace && tokenRate(trace)),
  },
  {
    name: 'queue_ms',
    label: 'queue',
    lists: 'ended',
    unit: 'ms',
    // Daemons of earlier versions lack it.
    value: ({ trace }) => trace?.queue_ms ?? null,
    text: ({ trace }) => duration(trace?.queue_ms ?? null),
  },
  {
    name: 'total_ms',
    lists: 'both',
    isUsual: true,
    unit: 'ms',
    width: 7,
    spare: 2,
    value: ({ totalMs }) => totalMs,
    text: ({ status, at, totalMs }, { now }) =>
      // A running call counts up.
      duration(totalMs ?? (status === 'running' ? Math.max(0, now - at) : null)),
  },
];

/** What it costs so far grows. */
const isCounting = ({ status, costUsd }: CallRow) => status === 'running' && costUsd !== null;

function tokensText(row: CallRow, format: (count: number) => string, arrow: string): string {
  return hasNoAnswer(row) ? '–' : format(row.inputTokens) + arrow + format(row.outputTokens);
}

/** The cost, or how many calls like it were rejected. */
function costText(row: CallRow, format: (usd: string | null) => string): string {
  if (row.more > 0) return `+${briefCount(row.more)}${row.more < 1000 ? ' more' : ''}`;
  if (hasNoAnswer(row)) return '–';
  return format(row.costUsd);
}
