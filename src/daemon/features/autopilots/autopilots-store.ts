import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../shared/contract/autopilots.ts';

/** An autopilot as it is kept. Times in milliseconds since 1970. */
export interface AutopilotRecord {
  id: string;
  /** The number of the user whose it is. */
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
}

/** Each method is one transaction. */
export interface AutopilotsStore {
  /** Under the first of the handles that is free, which comes back; undefined when none is. */
  insert(record: Omit<AutopilotRecord, 'handle'>, handles: readonly string[]): Promise<string | undefined>;
  /** By id or handle, of one owner. */
  find(owner: number, reference: string): Promise<AutopilotRecord | undefined>;
  /** The latest changed first. */
  list(
    owner: number,
    page: { limit: number; status: AutopilotStatus | undefined },
  ): Promise<AutopilotRecord[]>;
  /** Puts a record in the place of the one that was read: `changed` when that is another one by now. */
  replace(before: AutopilotRecord, after: AutopilotRecord): Promise<'done' | 'changed' | 'handle-taken'>;
}
