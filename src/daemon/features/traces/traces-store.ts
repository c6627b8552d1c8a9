import type { CallStatus, UsageRecord } from '../metering/index.ts';

/** Which finished calls of a workspace to read; times are of their end, `since` included and `until` not. */
export interface TracesFilter {
  workspaceId: string;
  status: CallStatus | undefined;
  model: string | undefined;
  provider: string | undefined;
  keyId: string | undefined;
  since: number | undefined;
  until: number | undefined;
  /** The request after which the page begins; an unknown one gives an empty page. */
  after: string | undefined;
  limit: number;
}

export interface TracesStore {
  find(workspaceId: string, requestId: string): Promise<UsageRecord | undefined>;
  /** Those that ended last come first. */
  list(filter: TracesFilter): Promise<UsageRecord[]>;
}
