import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import type { NewEvent } from '../events/index.ts';
import type { CallStatus, UsageRecord } from '../metering/index.ts';

/** A model call that got an error before any provider was asked, or whose client left before that. */
export interface Rejection {
  requestId: string;
  /** Null for a caller without a valid credential: only the host's owner sees such a call. */
  workspaceId: string | null;
  /** The id of the key or login; null for an unknown caller. */
  keyId: string | null;
  /** Of an unknown caller. */
  address: string | null;
  /** The path of the endpoint, or as requested. */
  endpoint: string;
  /** As requested; null if that is not known. */
  model: string | null;
  streamed: boolean;
  /** Null if the client left without a response. */
  httpStatus: number | null;
  errorCode: string;
  param: string | null;
  /** Contains nothing that a provider wrote. */
  message: string;
  totalMs: number;
  createdAt: number;
  completedAt: number;
  labels: CallLabels;
  /** How many similar calls before it were counted and not recorded. */
  more: number;
}

/** Selects finished calls of a workspace: completed at or after `since` and before `until`. */
export interface TracesFilter {
  workspaceId: string;
  status: CallStatus | undefined;
  model: string | undefined;
  provider: string | undefined;
  keyId: string | undefined;
  since: number | undefined;
  until: number | undefined;
  /** The last request of the previous page, finished or rejected; an unknown one gives an empty page. */
  after: string | undefined;
  limit: number;
}

const termFields = [
  'status',
  'errorCode',
  'endpoint',
  'model',
  'provider',
  'keyId',
  'client',
  'user',
  'conversation',
  'tag',
  'httpStatus',
  'replayOf',
] as const;

export type TermField = (typeof termFields)[number];

/** Selects calls of which a field has one of some values, or none of them. */
export interface SearchTerm {
  field: TermField;
  /**
   * `*` stands for any text. Keys are named by id or name. A client is meant in any version, or in one: `claude-cli`, `claude-cli/2.1.4`. A tag is written
   * `team=a`.
   */
  values: readonly string[];
  isExcluded: boolean;
  /** Whether the values are whole texts, without patterns and versions. */
  isExact?: boolean;
}

/** Filters of a search; calls match all of them. */
export interface SearchFilters {
  terms: readonly SearchTerm[];
  minTotalMs: number | undefined;
  /** Nano-dollars. */
  minCost: number | undefined;
}

type Page = Pick<TracesFilter, 'workspaceId' | 'since' | 'until' | 'after' | 'limit'>;

/** Selects finished calls by any filters. */
export interface TracesSearch extends Page, SearchFilters {}

/** A page of calls that were searched for. */
export interface FoundTraces {
  calls: UsageRecord[];
  /** How many calls were looked at. */
  scanned: number;
  /** The last call that was looked at, if the page ended before it was full, as a search takes no longer than 50 ms. */
  end: { requestId: string; completedAt: number } | undefined;
}

/** The calls with the highest values. */
export interface SortedTraces {
  calls: UsageRecord[];
  scanned: number;
  /** Whether there was no time to look at all calls, so that some with higher values may be missing. */
  isPartial: boolean;
}

/** How many calls have each value of a field. */
export interface Facet {
  /** The most frequent ones first. */
  values: { value: string; calls: number }[];
  /** Of all further values. */
  other: number;
  /** Calls without a value. */
  none: number;
}

export type FacetField = Exclude<TermField, 'httpStatus' | 'replayOf'>;

export interface TraceFacets {
  calls: number;
  facets: Record<FacetField, Facet>;
  /** Fields of which the newest calls were counted, as there was no time for all. */
  partial: FacetField[];
  /** Since when those calls completed; undefined if there are no such fields. */
  countedSince: number | undefined;
}

/** Selects calls to count. */
export type FacetsFilter = Omit<TracesSearch, 'after' | 'limit'>;

/** Selects rejections. */
export interface RejectionsFilter extends Omit<Page, 'workspaceId'>, Omit<SearchFilters, 'minCost'> {
  /** Null selects those of unknown callers. */
  workspaceIds: readonly (string | null)[];
  /** Only these. */
  requestIds?: readonly string[];
}

/** Selects rejections to count by time. */
export interface RejectedCallsFilter {
  workspaceId: string;
  keyId: string | undefined;
  model: string | undefined;
  /** In order, without gaps. */
  buckets: readonly { start: number; end: number }[];
}

/** Rejections that are alike. */
export interface RejectionCount {
  errorCode: string;
  model: string | null;
  keyId: string | null;
  client: string | null;
  user: string | null;
  conversation: string | null;
  /** Null where only the counts of a call are kept. */
  endpoint: string | null;
  /** `team=a`. */
  tags: readonly string[];
  calls: number;
}

/** Selects the attempts of a workspace; times are rounded down to half hours. */
export interface AttemptsFilter {
  workspaceId: string;
  since: number;
  /** Since when they are also counted by half hours. */
  stripSince: number;
  /** The error code of attempts that say nothing about the provider. */
  callersFault: string;
}

/** Attempts at a model of a provider, by the time when their calls completed. */
export interface AttemptsOfModel {
  provider: string;
  /** The provider's name for it. */
  model: string;
  /** Answered ones by ⌊4·log₂⌋ of the milliseconds until the answer began. */
  answered: Map<number, number>;
  errors: { errorCode: string; attempts: number }[];
  /** Of the provider, not for an invalid request. */
  lastFailure:
    | { requestId: string; at: number; status: number; errorCode: string; message: string | null }
    | undefined;
  slots: { start: number; attempts: number; failed: number }[];
}

export interface TracesStore {
  attempts(filter: AttemptsFilter): Promise<AttemptsOfModel[]>;
  find(workspaceId: string, requestId: string): Promise<UsageRecord | undefined>;
  /** Latest completed first. */
  list(filter: TracesFilter): Promise<UsageRecord[]>;
  /** Latest completed first. */
  search(filter: TracesSearch): Promise<FoundTraces>;
  /** The longest or the dearest first. */
  sorted(filter: TracesSearch & { sort: 'total_ms' | 'cost' }): Promise<SortedTraces>;
  /** Of some requests, those that match, in the same order. */
  matching(filter: FacetsFilter, requestIds: readonly string[]): Promise<UsageRecord[]>;
  /** Counts finished calls. */
  facets(filter: FacetsFilter): Promise<TraceFacets>;
  findRejection(workspaceIds: readonly (string | null)[], requestId: string): Promise<Rejection | undefined>;
  /** Latest completed first; within a millisecond they follow the finished calls. */
  listRejections(filter: RejectionsFilter): Promise<Rejection[]>;
  /** Counts rejections by some of their fields; null stands for those without. */
  countRejections(filter: Omit<RejectionsFilter, 'after' | 'limit'>): Promise<RejectionCount[]>;
  /** How many calls were rejected in each bucket, those included that have no record of their own. */
  rejectedCalls(filter: RejectedCallsFilter): Promise<number[]>;
  /** Stores a rejection with its event, and removes the oldest of the workspace beyond the newest `keep`. */
  recordRejection(rejection: Rejection, event: NewEvent, keep: number): Promise<void>;
}
