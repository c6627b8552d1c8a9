import type { CallLabels } from '../../../shared/call-labels.ts';
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

/** Further filters of a search; all of them are optional, and each is exact but for `client`. */
export interface SearchFilters {
  errorCode: string | undefined;
  endpoint: string | undefined;
  /** A client in any version, or in one: `claude-cli`, `claude-cli/2.1.4`. */
  client: string | undefined;
  user: string | undefined;
  conversation: string | undefined;
  /** `team=a` */
  tag: string | undefined;
  replayOf: string | undefined;
  minTotalMs: number | undefined;
  /** Nano-dollars. */
  minCost: number | undefined;
}

/** Selects finished calls by any filters. */
export interface TracesSearch extends Omit<TracesFilter, 'status'>, SearchFilters {
  /** Undefined for calls with any status. */
  statuses: readonly CallStatus[] | undefined;
}

/** A page of calls that were searched for. */
export interface FoundTraces {
  calls: UsageRecord[];
  /** How many calls were looked at. */
  scanned: number;
  /** The last call that was looked at, if the page ended before it was full, as a search takes no longer than 50 ms. */
  end: { requestId: string; completedAt: number } | undefined;
}

/** Selects rejections. */
export interface RejectionsFilter extends Omit<TracesFilter, 'status' | 'provider' | 'workspaceId'> {
  /** Null selects those of unknown callers. */
  workspaceIds: readonly (string | null)[];
  search?: Omit<SearchFilters, 'minCost'>;
}

export interface TracesStore {
  find(workspaceId: string, requestId: string): Promise<UsageRecord | undefined>;
  /** Latest completed first. */
  list(filter: TracesFilter): Promise<UsageRecord[]>;
  /** Latest completed first. */
  search(filter: TracesSearch): Promise<FoundTraces>;
  findRejection(workspaceIds: readonly (string | null)[], requestId: string): Promise<Rejection | undefined>;
  /** Latest completed first; within a millisecond they follow the finished calls. */
  listRejections(filter: RejectionsFilter): Promise<Rejection[]>;
  /** Stores a rejection with its event, and removes the oldest of the workspace beyond the newest `keep`. */
  recordRejection(rejection: Rejection, event: NewEvent, keep: number): Promise<void>;
}
