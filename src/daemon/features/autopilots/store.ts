import type {
  AutopilotPolicy,
  AutopilotProfile,
  AutopilotStatus,
  AutopilotVisibility,
} from '../../../shared/contract/autopilots.ts';

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
  /** Replaces the record that was read; `changed` if it differs by now. */
  replace(before: AutopilotRecord, after: AutopilotRecord): Promise<'done' | 'changed' | 'handle-taken'>;
}
