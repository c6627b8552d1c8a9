import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import {
  cancelCall,
  type TraceFacets as FacetsView,
  getTrace,
  getTraceFacets,
  listTraces,
  type TraceView,
} from '../../../shared/contract/traces.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { formatUsd, noCost } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import {
  type ActingUser,
  actingUser,
  type Handler,
  implement,
  type KeyOrLogin,
  keyOrLogin,
  loginOf,
} from '../../base/handler.ts';
import { type World, within } from '../../base/world.ts';
import { pricesView } from '../catalog/index.ts';
import {
  type CallTrace,
  costView,
  finishedCallView,
  subscriptionView,
  tokenCounts,
  type UsageRecord,
} from '../metering/index.ts';
import { attemptView } from '../routing/index.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import { type CapturedView, capturedViews, type KeptContents } from './captured-view.ts';
import { facetsView } from './facets-view.ts';
import {
  type CallContents,
  checkText,
  type FoundCalls,
  findCalls,
  hasRejections,
  type Sorting,
} from './find-calls.ts';
import { type CallFilters, type CallSelection, queryFault, selectionIn } from './selection.ts';
import type { Rejection, TracesStore } from './store.ts';

/** A list does not wait longer for what is kept of the content of its calls. */
const capturedMsMax = 50;

interface TracesDeps {
  store: TracesStore;
  content: CallContents & KeptContents;
  world: Pick<World, 'now' | 'sleep'>;
  settlementDurations: Pick<SettlementDurations, 'of'>;
  /** The workspaces whose rejected calls a reader sees; null stands for unknown callers. */
  visibleTo(reader: KeyOrLogin): Promise<(string | null)[]>;
  /** Stores what was counted of the rejected calls of some workspaces. */
  recordCounted(workspaceIds: readonly (string | null)[]): Promise<void>;
}

/** Finished and rejected calls, as their readers may see them. */
export interface TraceViews {
  /** In their order. Waits at most `waitMs` milliseconds for what is kept of their content, which may stay unknown. */
  viewsOf(
    reader: KeyOrLogin,
    records: readonly (UsageRecord | Rejection)[],
    waitMs?: number,
  ): Promise<TraceView[]>;
  find(reader: KeyOrLogin, requestId: string): Promise<UsageRecord | Rejection | undefined>;
  exists(reader: KeyOrLogin, requestId: string): Promise<boolean>;
  /** Reads the filters of a list. Fails with `invalid_request` or `out_of_scope` if the reader cannot list calls by them. */
  select(reader: KeyOrLogin, query: CallFilters): CallSelection;
  /** A page of a list; `next` is the cursor of the one after it. */
  page(
    reader: KeyOrLogin,
    query: { selection: CallSelection; sort?: Sorting; limit: number; after: string | undefined },
  ): Promise<FoundCalls>;
  /** How many calls match, by their fields. */
  facets(reader: KeyOrLogin, selection: CallSelection): Promise<FacetsView>;
}

/** Those of the caller's workspace; the host's owner sees the rejected calls of unknown callers, too. */
export const rejectionsVisible =
  (isDaemonOwner: (user: ActingUser) => Promise<boolean>): TracesDeps['visibleTo'] =>
  async (caller) => {
    const { workspaceId } = caller;
    return (await isDaemonOwner(actingUser(caller))) ? [workspaceId, null] : [workspaceId];
  };

/** A caller that may read traces sees the calls of every key of its workspace, as in the events. */
export function traceViews({
  store,
  content,
  world,
  settlementDurations,
  visibleTo,
  recordCounted,
}: TracesDeps): TraceViews {
  const countedFor = async (reader: KeyOrLogin) => {
    const workspaceIds = await visibleTo(reader);
    await recordCounted(workspaceIds);
    return workspaceIds;
  };
  const viewOf = (record: UsageRecord | Rejection, captured: CapturedView | null) => ({
    ...(isRejection(record)
      ? rejectionView(record)
      : traceView(record, settlementDurations.of(record.requestId))),
    captured,
  });
  const find = async (reader: KeyOrLogin, requestId: string) =>
    (await store.find(reader.workspaceId, requestId)) ??
    (await store.findRejection(await visibleTo(reader), requestId));

  return {
    async viewsOf({ workspaceId }, records, waitMs) {
      let known: ReadonlyMap<string, CapturedView> | undefined;
      const asked = capturedViews(content, workspaceId, records).then((found) => {
        known = found;
      });
      await (waitMs === undefined ? asked.catch(() => {}) : within(world, asked, waitMs));
      return records.map((record) => viewOf(record, known?.get(record.requestId) ?? null));
    },
    find,
    exists: async (reader, requestId) => (await find(reader, requestId)) !== undefined,
    select: (reader, query) => {
      const selection = selectionIn(query, world.now());
      checkText(reader, selection);
      return selection;
    },
    page: (reader, { sort = 'time', ...query }) =>
      findCalls({ store, content }, reader, { ...query, sort, visibleTo: () => countedFor(reader) }),
    async facets(reader, selection) {
      if (selection.text !== undefined)
        throw queryFault(`"${selection.text}"`, 'Calls that contain a text can be listed, but not counted.');
      const { workspaceId } = reader;
      const [facets, rejections] = await Promise.all([
        store.facets({ workspaceId, ...selection }),
        hasRejections(selection)
          ? store.countRejections({ ...selection, workspaceIds: await countedFor(reader) })
          : [],
      ]);
      return facetsView(facets, rejections);
    },
  };
}

interface TraceHandlersDeps {
  views: TraceViews;
  running: { cancel(workspaceId: string, requestId: string): Promise<boolean> };
  workspaces: Pick<Workspaces, 'membership'>;
}

export const traceHandlers = ({ views, running, workspaces }: TraceHandlersDeps): Handler[] => [
  implement(getTrace, async ({ caller, params: { request_id: requestId } }) => {
    const record = await views.find(keyOrLogin(caller), requestId);
    const [view] = record ? await views.viewsOf(keyOrLogin(caller), [record]) : [];
    if (!view) throw notFound('finished request', requestId);
    return view;
  }),

  implement(listTraces, async ({ caller, query }) => {
    const { sort, limit = pageSizeDefault, after } = query;
    const reader = keyOrLogin(caller);
    const selection = views.select(reader, query);
    const { records, next, scanned, isPartial } = await views.page(reader, {
      selection,
      ...(sort && { sort }),
      limit,
      after,
    });
    const found = await views.viewsOf(reader, records, capturedMsMax);
    const isBrief = query.fields === 'brief';
    return {
      object: 'list',
      data: found.map((view) => (isBrief ? { ...view, routes: null, dropped: [] } : view)),
      has_more: next !== undefined,
      next: next ?? null,
      ...(scanned !== undefined && { scanned }),
      ...(isPartial !== undefined && { is_partial: isPartial }),
    };
  }),

  implement(getTraceFacets, async ({ caller, query }) => {
    const reader = keyOrLogin(caller);
    return await views.facets(reader, views.select(reader, query));
  }),

  implement(
    cancelCall,
    async ({ caller, params: { request_id: requestId } }) => {
      const login = loginOf(caller);
      const canceled = await running.cancel(login.workspaceId, requestId);
      if (!canceled && !(await views.exists(login, requestId))) throw notFound('request', requestId);
      return { object: 'call.cancellation', request_id: requestId, canceled };
    },
    ({ caller }) =>
      managedWorkspace(workspaces, { caller: loginOf(caller), workspace: 'me', action: 'cancel its calls' }),
  ),
];

function isRejection(record: UsageRecord | Rejection): record is Rejection {
  return 'more' in record;
}

function labelsView({ client, user, conversation, tags, replayOf }: CallLabels) {
  return { client, user, conversation, tags: { ...tags }, replay_of: replayOf };
}

type UncapturedView = Omit<TraceView, 'captured'>;

/** A rejected call has no attempts, tokens or cost. */
function rejectionView(record: Rejection): UncapturedView {
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
    provider_finish_reason: null,
    served_model: null,
    timings: { ...unreached, total_ms: record.totalMs },
    queue_ms: null,
    waits: [],
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
function traceView(record: UsageRecord, settledMs: number | null): UncapturedView {
  const { trace } = record;
  return {
    ...finishedCallView(record),
    ...labelsView(record.labels),
    error_code: record.errorCode,
    http_status: record.httpStatus,
    rejection: null,
    finish_reason: trace?.finishReason ?? null,
    provider_finish_reason: trace?.providerReason ?? null,
    served_model: trace?.servedModel ?? null,
    timings: {
      admitted_ms: trace?.admittedMs ?? null,
      held_ms: trace?.heldMs ?? null,
      first_token_ms: record.ttftMs,
      total_ms: record.totalMs,
      settled_ms: settledMs,
    },
    queue_ms: queueMs(trace?.waits),
    waits: (trace?.waits ?? []).map(({ startedMs, ...wait }) => ({ ...wait, started_ms: startedMs })),
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
    ...subscriptionView(trace),
    ...(trace?.hooks && {
      hooks: trace.hooks.map(({ message = null, ...run }) => ({ ...run, message })),
    }),
    dropped: (trace?.dropped ?? []).map(({ param, type }) => ({
      param,
      ...(type !== undefined && { type }),
    })),
  };
}

function queueMs(waits: CallTrace['waits']): number | null {
  return waits ? Math.round(waits.reduce((sum, { ms }) => sum + ms, 0) * 10) / 10 : null;
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
