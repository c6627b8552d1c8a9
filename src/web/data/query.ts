import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Address } from '../../shared/client.ts';
import type { Endpoint, Input, Result } from '../../shared/contract/endpoint.ts';
import { call } from './api.ts';
import { login } from './login.ts';

/** Answers that are kept for screens that are opened again. */
const keptMax = 60;
/** An answer that is younger is not asked for again. */
const freshMs = 2_000;

interface Entry {
  data: Signal<unknown>;
  error: Signal<unknown>;
  isLoading: Signal<boolean>;
  loadedAt: number;
  readers: number;
  running: AbortController | undefined;
  load: () => void;
}

/** What is known of the answer to a call. */
export interface Query<T> {
  /** The latest answer; while the call for another input runs, that of the one before. */
  data: T | undefined;
  /** Whether `data` belongs to the input before, or could not be renewed. */
  isStale: boolean;
  error: unknown;
  isLoading: boolean;
  reload(): void;
}

const entries = new Map<string, Entry>();

// Another login may read other things.
login.subscribe(() => {
  for (const { running } of entries.values()) running?.abort();
  entries.clear();
});

/**
 * The answer of an endpoint, asked for once for all who use it, and ended when no one does. Without an endpoint nothing is
 * asked.
 */
export function useQuery<E extends Endpoint>(
  endpoint: Address<E> | undefined,
  input: Input<E>,
): Query<Result<E>> {
  const key = endpoint && `${endpoint.method} ${endpoint.path} ${JSON.stringify(input)}`;
  return useAnswer(key, (signal) => call(endpoint as Address<E>, input, { signal }));
}

/** The pages of a list that are read at most. */
const pagesMax = 20;

/** Like `useQuery`, of an endpoint with pages: `data` has the rows of all of them, the rest is as on the first one. */
export function useList<E extends Endpoint>(
  endpoint: Address<E> | undefined,
  input: Input<E>,
): Query<Result<E>> {
  const key = endpoint && `all ${endpoint.method} ${endpoint.path} ${JSON.stringify(input)}`;
  return useAnswer(key, (signal) => allPages(endpoint as Address<E>, input, signal));
}

async function allPages<E extends Endpoint>(
  endpoint: Address<E>,
  input: Input<E>,
  signal: AbortSignal,
): Promise<Result<E>> {
  type List = { data: unknown[]; next?: string | null };
  const { query = {} } = input as { query?: object };
  const page = async (after: string | null | undefined) =>
    (await call(
      endpoint,
      { ...input, query: { limit: 100, ...query, ...(after && { after }) } } as Input<E>,
      { signal },
    )) as List;
  const first = await page(undefined);
  const data = [...first.data];
  let { next } = first;
  for (let pages = 1; next && pages < pagesMax; pages += 1) {
    const more = await page(next);
    data.push(...more.data);
    next = more.next;
  }
  return { ...first, data, next: next ?? null } as Result<E>;
}

/** Calls an endpoint that changes something, and then reloads what the page shows. */
export async function change<E extends Endpoint>(endpoint: Address<E>, input: Input<E>): Promise<Result<E>> {
  const result = await call(endpoint, input);
  for (const [key, entry] of entries) {
    if (entry.readers === 0) entries.delete(key);
    else if (entry.running) entry.running.abort();
    else entry.load();
  }
  return result;
}

function useAnswer<T>(key: string | undefined, run: (signal: AbortSignal) => Promise<T>): Query<T> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked.
  const entry = useMemo(() => (key === undefined ? undefined : entryOf(key, run)), [key, login.value]);
  const before = useRef<unknown>(undefined);
  // Before the first paint, not after it.
  useLayoutEffect(() => {
    if (!entry) return;
    entry.readers += 1;
    if (Date.now() - entry.loadedAt > freshMs) entry.load();
    return () => {
      entry.readers -= 1;
      if (entry.readers === 0) entry.running?.abort();
    };
  }, [entry]);
  if (!entry) return { data: undefined, isStale: false, error: undefined, isLoading: false, reload() {} };
  const own = entry.data.value;
  if (own !== undefined) before.current = own;
  const error = entry.error.value;
  return {
    data: (own ?? before.current) as T | undefined,
    isStale: own === undefined ? before.current !== undefined : error !== undefined,
    error,
    isLoading: entry.isLoading.value,
    reload: entry.load,
  };
}

function entryOf(key: string, run: (signal: AbortSignal) => Promise<unknown>): Entry {
  const known = entries.get(key);
  if (known) return known;
  const entry: Entry = {
    data: signal(undefined),
    error: signal(undefined),
    isLoading: signal(true),
    loadedAt: 0,
    readers: 0,
    running: undefined,
    load: () => void load(entry, run),
  };
  entries.set(key, entry);
  for (const [oldKey, old] of entries) {
    if (entries.size <= keptMax) break;
    if (old.readers === 0 && old !== entry) entries.delete(oldKey);
  }
  return entry;
}

/** Reloads the answers on the page whose endpoints have a path with this prefix. */
export function reloadQueries(paths: readonly string[]): void {
  for (const [key, entry] of entries) {
    if (entry.readers > 0 && paths.some((path) => key.startsWith(`GET ${path}`))) entry.load();
  }
}

async function load(entry: Entry, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  if (entry.running !== undefined) return;
  const running = new AbortController();
  entry.running = running;
  entry.isLoading.value = true;
  try {
    entry.data.value = await run(running.signal);
    entry.error.value = undefined;
    entry.loadedAt = Date.now();
  } catch (error) {
    if (!running.signal.aborted) entry.error.value = error;
  }
  entry.running = undefined;
  entry.isLoading.value = false;
  // Who came while it was being ended still waits for an answer.
  if (running.signal.aborted && entry.readers > 0) entry.load();
}
