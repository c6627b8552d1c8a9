import type { EventView } from '../../shared/contract/events.ts';
import { getKey, getSession, listTraces, streamEvents } from '../../shared/endpoints.ts';
import { CallPace, digestQuery } from '../../view/call-pace.ts';
import type { Connection } from './services/follower.ts';
import type { Services } from './services/services.ts';
import { loadUsage } from './services/spending.ts';
import { loadFiring } from './state/firing-alerts.ts';
import type { ListView } from './state/list-view.ts';
import type { AccountFacts, TuiState } from './state/tui-state.ts';

interface SyncOptions {
  state: TuiState;
  signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const tickMs = 1000;
const accountEveryMs = 15_000;
/** How often rows are polled while their stream is unavailable. */
const pollEveryMs = 5000;
const pastCalls = 100;

/** Keeps the state in sync with the daemon until the signal aborts: by events where possible, else by polling. */
export async function syncWithDaemon({ state, signal, sleep }: SyncOptions): Promise<void> {
  const { services } = state.options;
  let isFirst = true;
  const follow = followEvents(services, {
    signal,
    onState(connection) {
      state.connection = connection;
      state.changed({ soon: true });
      if (connection.state !== 'live') return;
      // Fetch what happened while there was no connection.
      void loadPastCalls(state, services).then(() => {
        // For screen readers nothing moves by itself, but past requests are there to read.
        if (isFirst && state.options.isPlain) state.viewOf('traffic')?.togglePause();
        isFirst = false;
      });
      void loadAccount(state, services);
      void state.reload();
      state.reloadPageSoon();
      // The header counts unread whispers, and traffic shows the names of keys.
      for (const id of ['whispers', 'keys']) void state.reload(state.viewOf(id));
    },
    onEvent: (event) => applyEvent(state, event),
  });
  await Promise.all([follow, tick({ state, signal, sleep })]);
}

interface EventsFollowing {
  signal: AbortSignal;
  onState(connection: Connection): void;
  onEvent(event: EventView): void;
}

/** Follows the events of the workspace, and while there are many calls, digests of them in their place. */
async function followEvents(
  services: Services,
  { signal, onState, onEvent }: EventsFollowing,
): Promise<void> {
  const pace = new CallPace();
  let lastId: string | undefined;
  let isChange = false;
  while (!signal.aborted) {
    const change = new AbortController();
    await services.follow({
      open: (id, options) =>
        services.client.stream(
          streamEvents,
          { query: pace.isDigest ? digestQuery : {}, headers: { 'last-event-id': id } },
          options,
        ),
      ...(lastId !== undefined && { after: lastId }),
      signal: AbortSignal.any([signal, change.signal]),
      onState(connection) {
        // What goes on in another form was not interrupted.
        if (isChange && connection.state !== 'live' && connection.state !== 'connecting') isChange = false;
        if (!isChange) onState(connection);
        if (connection.state === 'live') isChange = false;
      },
      onEvent({ data, id }) {
        lastId = id ?? lastId;
        const event = JSON.parse(data) as EventView;
        onEvent(event);
        if (change.signal.aborted || !pace.changes(event, services.now())) return;
        isChange = true;
        change.abort();
      },
    });
  }
}

function applyEvent(state: TuiState, event: EventView): void {
  const { services } = state.options;
  if (event.type === 'events.dropped' || event.type === 'events.gap') void loadPastCalls(state, services);
  if (event.type.startsWith('alert.')) services.log.unlisted(() => void loadAccount(state, services));
  for (const view of state.views) {
    const isShown = view === state.view || event.type.startsWith('key.');
    if (isShown && view.screen.isAffectedBy?.(event)) state.reloadSoon(view);
  }
  if (services.calls.apply(event)) state.changed({ soon: true });
  const { updates } = state.pages.front?.page ?? {};
  if (eventsIn(event).some((one) => updates?.isAffectedBy?.(one))) state.reloadPageSoon();
}

/** A digest as the events of the calls that ended in it; another event as itself. */
function eventsIn(event: EventView): EventView[] {
  if (event.type !== 'calls.digest' || !Array.isArray(event.data.rows)) return [event];
  return event.data.rows.map((data) => ({
    ...event,
    type: data.status === 'rejected' ? 'request.rejected' : 'request.completed',
    data,
  }));
}

async function loadPastCalls(state: TuiState, { client, calls }: Services): Promise<void> {
  try {
    const { data, has_more } = await client.call(listTraces, { query: { limit: pastCalls } });
    calls.backfill(data, { hasMore: has_more });
  } catch {
    // A key without access to traces only sees requests from now on.
  }
  state.changed({ soon: true });
}

async function loadAccount(state: TuiState, services: Services): Promise<void> {
  try {
    state.account = { ...state.account, ...(await fetchAccount(services)) };
  } catch {
    // The header keeps what it has; a lost connection is shown there anyway.
  }
  state.changed({ soon: true });
}

async function fetchAccount(services: Services): Promise<AccountFacts> {
  const { client } = services;
  // A key without access to usage sees no amounts.
  await loadUsage(services, 'day').catch(() => {});
  const key = await client.call(getKey, {});
  const session = await client.call(getSession, {}).catch(() => undefined);
  const firing = await loadFiring(client);
  return {
    firing,
    workspace: session?.workspace.slug ?? key.workspace,
    balanceUsd: key.balance_usd,
  };
}

async function tick({ state, signal, sleep }: SyncOptions): Promise<void> {
  const { services } = state.options;
  let accountAt = services.now();
  while (!signal.aborted) {
    await sleep(tickMs, signal);
    const now = services.now();
    if (state.connection.state !== 'lost') {
      followRowStreams(state, signal);
      const every = reloadEveryMs(state.view);
      const { loadedAt } = state.view;
      if (every !== undefined && loadedAt !== undefined && now - loadedAt >= every)
        services.log.unlisted(() => void state.reload());
      if (now - accountAt >= accountEveryMs) {
        accountAt = now;
        services.log.unlisted(() => void loadAccount(state, services));
      }
    }
    // Redraws elapsed times; a screen reader would read everything again.
    if (!state.options.isPlain) state.changed({ soon: true });
  }
}

/** Rows are polled more often while their stream is unavailable. */
function reloadEveryMs({ screen, connection }: ListView): number | undefined {
  const { refreshEveryMs } = screen;
  if (!screen.stream || connection?.state === 'live') return refreshEveryMs;
  return Math.min(refreshEveryMs ?? pollEveryMs, pollEveryMs);
}

/** Follows the row streams of the screens that are loaded; those that are already followed are left alone. */
export function followRowStreams(state: TuiState, signal: AbortSignal): void {
  for (const view of state.views) {
    const isReady = view.loadedAt !== undefined && view.failure === undefined;
    if (view.screen.stream && view.connection === undefined && isReady) {
      void followRowStream(state, view, signal);
    }
  }
}

async function followRowStream(state: TuiState, view: ListView, signal: AbortSignal): Promise<void> {
  const { stream } = view.screen;
  if (!stream) return;
  const { services } = state.options;
  let wasLive = false;
  await services.follow({
    open: (lastId, options) => stream.open(services.client, lastId, options),
    after: stream.cursor(view.loadedRows()),
    signal,
    onState(connection) {
      view.connection = connection;
      // No stream reports rows that were deleted meanwhile.
      if (connection.state === 'live' && wasLive) services.log.unlisted(() => void state.reload(view));
      wasLive ||= connection.state === 'live';
      state.changed({ soon: true });
    },
    onEvent(event) {
      if (!view.applyEvent(event)) state.reloadSoon(view);
      const { updates } = state.pages.front?.page ?? {};
      if (view === state.view && updates?.isAffectedByRow?.(event)) state.reloadPageSoon();
      state.changed({ soon: true });
    },
  });
}
