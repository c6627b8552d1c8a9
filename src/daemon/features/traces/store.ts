import type { CallStatus, UsageRecord } from '../metering/index.ts';

/** Selects finished calls of a workspace: completed at or after `since` and before `until`. */
export interface TracesFilter {
  workspaceId: string;
  status: CallStatus | undefined;
  model: string | undefined;
  provider: string | undefined;
  keyId: string | undefined;
  since: number | undefined;
  until: number | undefined;
  /** The last request of the previous page; an unknown one gives an empty page. */
  after: string | undefined;
  limit: number;
}

export interface TracesStore {
  find(workspaceId: string, requestId: string): Promise<UsageRecord | undefined>;
  /** Latest completed first. */
  list(filter: TracesFilter): Promise<UsageRecord[]>;
}
