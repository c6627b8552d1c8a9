import type { EventView } from '../../shared/contract/events.ts';
import { gaps, onEvents } from './live.ts';
import { now } from './now.ts';
import { reloadQueries } from './query.ts';

/** Which answers an event changes, by the start of its type and those of the paths. */
const changes: readonly (readonly [type: string, paths: readonly string[]])[] = [
  ['request.completed', ['/v1/usage', '/v1/traces/facets', '/v1/traces ', '/v1/workspaces']],
  ['request.failed', ['/v1/usage', '/v1/traces/facets', '/v1/traces ', '/v1/providers']],
  ['request.rejected', ['/v1/traces/facets', '/v1/traces ']],
  ['calls.digest', ['/v1/usage', '/v1/traces/facets', '/v1/traces ', '/v1/workspaces']],
  ['budget.', ['/v1/workspaces']],
  ['alert.', ['/v1/workspaces']],
  ['key.', ['/v1/workspaces', '/v1/key']],
  ['provider.', ['/v1/providers', '/v1/upstreams']],
  ['payment.', ['/api/agents/me/balance', '/api/payments']],
  ['invoice.', ['/api/agents/me/balance', '/api/payments', '/api/l402']],
  ['paywall.', ['/api/l402']],
];

/** Charts and tables follow at most so often. */
const everyMs = 4_000;

const due = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let reloadedAt = 0;

/** Keeps what screens show up to date with the events of the workspace. */
export function followChanges(): void {
  onEvents(take);
  gaps.subscribe((count) => {
    if (count > 0) reloadSoon(['/v1/', '/api/']);
  });
  document.addEventListener('visibilitychange', () => reloadSoon([]));
}

function take(events: readonly EventView[]): void {
  const types = new Set(events.map(({ type }) => type));
  for (const [start, paths] of changes) {
    if ([...types].some((type) => type.startsWith(start))) reloadSoon(paths);
  }
}

function reloadSoon(paths: readonly string[]): void {
  for (const path of paths) due.add(path);
  if (due.size === 0 || timer !== undefined || document.visibilityState !== 'visible') return;
  timer = setTimeout(reload, Math.max(0, reloadedAt + everyMs - Date.now()));
}

function reload(): void {
  timer = undefined;
  reloadedAt = Date.now();
  const paths = [...due];
  due.clear();
  // Periods end now.
  now.value = reloadedAt;
  reloadQueries(paths);
}
