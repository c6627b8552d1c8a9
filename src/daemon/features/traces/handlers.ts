import type { CallLabels } from '../../../shared/call-labels.ts';
import type { Query } from '../../../shared/contract/endpoint.ts';
import { getTrace, listTraces, type TraceView } from '../../../shared/contract/traces.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { formatUsd, noCost, parseUsd } from '../../../shared/money.ts';
import { notFound } from '../../../shared/not-found.ts';
import { isoTime } from '../../../shared/time.ts';
import { type ActingUser, actingUser, implement, type KeyOrLogin, keyOrLogin } from '../../handler.ts';
import { pricesView } from '../catalog/index.ts';
import {
  type CallStatus,
  costView,
  finishedCallView,
  timeBound,
  tokenCounts,
  type UsageRecord,
} from '../metering/index.ts';
import { attemptView } from '../routing/index.ts';
import type { FoundTraces, Rejection, SearchFilters, TracesFilter, TracesStore } from './store.ts';

interface TracesDeps {
  store: TracesStore;
  settlementDurations: Pick<SettlementDurations, 'of'>;
  isDaemonOwner(user: ActingUser): Promise<boolean>;
}

/**
 * A caller that may read traces sees the calls of every key of its workspace, as in the events; the host's owner sees the
 * rejected calls of unknown callers, too.
 */
export const traceHandlers = ({ store, settlementDurations, isDaemonOwner }: TracesDeps) => {
  const visibleTo = async (caller: KeyOrLogin) => {
    const { workspaceId } = caller;
    return (await isDaemonOwner(actingUser(caller))) ? [workspaceId, null] : [workspaceId];
  };
  const viewOf = (record: UsageRecord | Rejection) =>
    isRejection(record) ? rejectionView(record) : traceView(record, settlementDurations.of(record.requestId));

  return [
    implement(getTrace, async ({ caller, params: { request_id: requestId } }) => {
      const reader = keyOrLogin(caller);
      const record =
        (await store.find(reader.workspaceId, requestId)) ??
        (await store.findRejection(await visibleTo(reader), requestId));
      if (!record) throw notFound('finished request', requestId);
      return viewOf(record);
    }),

    implement(listTraces, async ({ caller, query }) => {
      const { model, provider, key: keyId, limit = pageSizeDefault, after } = query;
      const statuses = query.status?.split(',') as (CallStatus | 'rejected')[] | undefined;
      const reader = keyOrLogin(caller);
      const page = {
        workspaceId: reader.workspaceId,
        model,
        provider,
        keyId,
        since: timeBound('since', query.since),
        until: timeBound('until', query.until),
        // One more shows whether there is another page.
        limit: limit + 1,
        after,
      };
      const search = searchIn(query);
      const found = await callsFor(store, { page, search, statuses });
      const rejections = hasRejections(query, statuses)
        ? await store.listRejections({
            ...page,
            workspaceIds: await visibleTo(reader),
            ...(isNeeded(search) && { search: withoutCost(search) }),
          })
        : [];
      const { calls, end, scanned } = found;
      // What is older than the last call that was looked at comes on the next page.
      const seen = end ? rejections.filter(({ completedAt }) => completedAt > end.completedAt) : rejections;
      const records = newestFirst([...calls, ...seen]);
      const next = records.length > limit ? records[limit - 1]?.requestId : end?.requestId;
      const view = (record: UsageRecord | Rejection) =>
        query.fields === 'brief' ? { ...viewOf(record), routes: null, dropped: [] } : viewOf(record);
      return {
        object: 'list',
        data: records.slice(0, limit).map(view),
        has_more: next !== undefined,
        next: next ?? null,
        ...(scanned !== undefined && { scanned }),
      };
    }),
  ];
};

type ListQuery = Query<typeof listTraces>;

/** The filters that need a search, unlike those by which calls are listed. */
function searchIn(query: ListQuery): SearchFilters {
  return {
    errorCode: query.error_code,
    endpoint: query.endpoint,
    client: query.client,
    user: query.user,
    conversation: query.conversation,
    tag: query.tag,
    replayOf: query.replay_of,
    minTotalMs: query.min_total_ms,
    minCost: query.min_cost_usd === undefined ? undefined : parseUsd(query.min_cost_usd),
  };
}

function isNeeded(search: SearchFilters): boolean {
  return Object.values(search).some((value) => value !== undefined);
}

function withoutCost({ minCost: _minCost, ...search }: SearchFilters): Omit<SearchFilters, 'minCost'> {
  return search;
}

/** A rejected call has no provider and no cost. */
function hasRejections(query: ListQuery, statuses: readonly string[] | undefined): boolean {
  const isFree = query.min_cost_usd === undefined || parseUsd(query.min_cost_usd) === 0;
  return (statuses === undefined || statuses.includes('rejected')) && query.provider === undefined && isFree;
}

interface CallsQuery {
  page: Omit<TracesFilter, 'status'>;
  search: SearchFilters;
  statuses: readonly (CallStatus | 'rejected')[] | undefined;
}

async function callsFor(
  store: TracesStore,
  { page, search, statuses }: CallsQuery,
): Promise<Partial<FoundTraces> & Pick<FoundTraces, 'calls'>> {
  const ofCalls = statuses?.filter((status) => status !== 'rejected');
  if (ofCalls?.length === 0) return { calls: [] };
  if (!isNeeded(search) && (ofCalls === undefined || ofCalls.length === 1))
    return { calls: await store.list({ ...page, status: ofCalls?.[0] }) };
  return await store.search({ ...page, ...search, statuses: ofCalls });
}

function isRejection(record: UsageRecord | Rejection): record is Rejection {
  return 'more' in record;
}

/** Keeps the order of the store within a millisecond: finished calls first. */
function newestFirst(records: (UsageRecord | Rejection)[]): (UsageRecord | Rejection)[] {
  return records.sort((one, other) => other.completedAt - one.completedAt);
}

function labelsView({ client, user, conversation, tags, replayOf }: CallLabels) {
  return { client, user, conversation, tags: { ...tags }, replay_of: replayOf };
}

/** A rejected call has no attempts, tokens or cost. */
function rejectionView(record: Rejection): TraceView {
  const unreached = { admitted_ms: null, held_ms: null, first_token_ms: null, settled_ms: null };
  return {
    request_id: record.requestId,
    response_id: null,
    created_at: isoTime(record.createdAt),
    completed_at: isoTime(record.completedAt),
    endpoint: record.endpoint,
    model: record.model,
    provider: null,
    key: record.keyId,
    streamed: record.streamed,
    status: 'rejected',
    ...labelsView(record.labels),
    error_code: record.errorCode,
    http_status: record.httpStatus,
    rejection: {
      http_status: record.httpStatus,
      param: record.param,
      message: record.message,
      address: record.address,
      more: record.more,
    },
    finish_reason: null,
    timings: { ...unreached, total_ms: record.totalMs },
    attempts: [],
    routes: null,
    tokens: { input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 },
    tokens_reported: false,
    cost: costView(noCost),
    prices: null,
    cache: null,
    charged_usd: formatUsd(0),
    own_key: false,
    dropped: [],
  };
}

/** Members that an earlier version did not record are null. */
function traceView(record: UsageRecord, settledMs: number | null): TraceView {
  const { trace } = record;
  return {
    ...finishedCallView(record),
    ...labelsView(record.labels),
    error_code: record.errorCode,
    http_status: record.httpStatus,
    rejection: null,
    finish_reason: trace?.finishReason ?? null,
    timings: {
      admitted_ms: trace?.admittedMs ?? null,
      held_ms: trace?.heldMs ?? null,
      first_token_ms: record.ttftMs,
      total_ms: record.totalMs,
      settled_ms: settledMs,
    },
    attempts: record.attempts.map((attempt, index) => {
      const started = trace?.startedMs[index] ?? null;
      const { ms, ...view } = attemptView(attempt);
      return {
        ...view,
        message: attempt.message ?? null,
        started_ms: started,
        ended_ms: started === null ? null : Math.round((started + ms) * 10) / 10,
      };
    }),
    routes: trace?.routes.map(({ provider, model }) => ({ provider, model })) ?? null,
    tokens: tokenCounts(record.tokens),
    tokens_reported: record.tokensReported,
    cost: record.cost && costView(record.cost),
    prices: record.prices && pricesView(record.prices),
    cache: record.cache,
    charged_usd: formatUsd(record.charged),
    own_key: record.ownKey,
    dropped: (trace?.dropped ?? []).map(({ param, type }) => ({
      param,
      ...(type !== undefined && { type }),
    })),
  };
}

const callsMax = 10_000;

/**
 * When recent calls were settled on disk, in milliseconds since their request arrived. A settlement cannot contain its own
 * duration, and another write per call is not worth its cost, so this covers the running daemon only.
 */
export class SettlementDurations {
  // Two maps, since deleting the oldest entry of one map gets slower with each deletion.
  #latest = new Map<string, number>();
  #before = new Map<string, number>();

  onSettled({ requestId }: { requestId: string }, settledMs: number): void {
    if (this.#latest.size >= callsMax / 2) {
      this.#before = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(requestId, settledMs);
  }

  of(requestId: string): number | null {
    return this.#latest.get(requestId) ?? this.#before.get(requestId) ?? null;
  }
}
