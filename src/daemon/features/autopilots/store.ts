import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotSchedule,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../shared/contract/autopilots.ts';
import type { PersonRecord } from '../profile/index.ts';

/** The credential that set a schedule, with whose rights its runs are made. */
export interface ScheduledBy {
  userId: string;
  workspaceId: string;
  /** The key or access token; null for a login, as the schedule outlives it. */
  credentialId: string | null;
  /** Whether it may pay from the wallet. */
  mayPay: boolean;
}

/** A stored autopilot. Times in milliseconds since 1970. */
export interface AutopilotRecord {
  id: string;
  /** The number of the owner. */
  owner: number;
  handle: string;
  displayName: string;
  avatar: string;
  tagline: string;
  status: AutopilotStatus;
  visibility: AutopilotVisibility;
  configVersion: number;
  createdAt: number;
  updatedAt: number;
  profile: AutopilotProfile;
  policy: AutopilotPolicy;
  schedule: AutopilotSchedule | null;
  /** Null without a schedule. */
  scheduledBy: ScheduledBy | null;
  /** Null while no run is planned: without a schedule, while that is paused, and unless the autopilot is active. */
  nextRunAt: number | null;
}

/** Times of a schedule at which no run was started, or not yet. */
export interface OccurrenceRecord {
  /** That of the run, if one is started. */
  id: string;
  autopilotId: string;
  workspaceId: string;
  /** `claimed`: its run is about to start. `missed`: the daemon did not run then. `skipped`: the run could not start. */
  status: 'claimed' | 'missed' | 'skipped';
  /** The first and the last time, and how many there are. */
  dueAt: number;
  lastDueAt: number;
  count: number;
  reason: { code: string; message: string } | null;
  createdAt: number;
}

/** An autopilot that others may see, and its owner. */
export interface ListedRecord
  extends Pick<AutopilotRecord, 'id' | 'handle' | 'displayName' | 'avatar' | 'tagline' | 'createdAt'> {
  visibility: Exclude<AutopilotVisibility, 'private'>;
  owner: Pick<PersonRecord, 'number' | 'handle' | 'name' | 'avatar'>;
}

/** Plans the run after one that is due, and keeps what becomes of those that are. */
export interface Claim {
  id: string;
  /** `nextRunAt` as it was read. */
  dueAt: number;
  nextRunAt: number | null;
  occurrences: OccurrenceRecord[];
}

/** Each method is one transaction. */
export interface AutopilotsStore {
  /** Inserts it under the first free handle and returns that; undefined if none is free. */
  insert(record: Omit<AutopilotRecord, 'handle'>, handles: readonly string[]): Promise<string | undefined>;
  /** By id or handle, within one owner's autopilots. */
  find(owner: number, reference: string): Promise<AutopilotRecord | undefined>;
  /** Most recently changed first. */
  list(
    owner: number,
    page: { limit: number; status: AutopilotStatus | undefined },
  ): Promise<AutopilotRecord[]>;
  /** The active ones that are not private, newest first, before the one with an id. */
  directory(page: {
    isPublicOnly: boolean;
    limit: number;
    before: string | undefined;
  }): Promise<ListedRecord[]>;
  /** Replaces the record that was read; `changed` if it differs by now. */
  replace(before: AutopilotRecord, after: AutopilotRecord): Promise<'done' | 'changed' | 'handle-taken'>;

  /** The autopilots with a run that is due, the longest due first. */
  due(now: number, limit: number): Promise<AutopilotRecord[]>;
  /** When the next run is due; undefined if none is planned. */
  nextDue(): Promise<number | undefined>;
  /** Resolves to false without a change if another claim or change came first. */
  claim(claim: Claim): Promise<boolean>;
  /** Ends a claim: its run was started, or was not for a reason. */
  endClaim(id: string, reason: OccurrenceRecord['reason']): Promise<void>;
  /** Ends the claims of a daemon that is gone: those without a run become missed, and are returned. */
  endLeftClaims(daemon: number): Promise<OccurrenceRecord[]>;
  /** The missed and skipped times, newest first. The latest 200 of each autopilot are stored. */
  notRun(autopilotId: string, page: { workspaceId: string; limit: number }): Promise<OccurrenceRecord[]>;
}
