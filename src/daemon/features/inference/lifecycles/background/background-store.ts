import type { KnownSecrets } from '../../../../../shared/masking/known-secrets.ts';

/** A background response; once it has ended, the responses store has it. Times in milliseconds since 1970. */
export interface BackgroundResponse {
  id: string;
  workspaceId: string;
  requestId: string;
  previousId: string | null;
  /** Whether its events are stored, so that it can be followed. */
  streamed: boolean;
  isRunning: boolean;
  /** Sequence of its last event; null while it runs, when it has no events, and when they broke off. */
  lastSequence: number | null;
  createdAt: number;
  expiresAt: number;
  /** The input items of this request alone, JSON text; empty once it has ended. */
  input: string;
  /** The queued response object, JSON text; empty once it has ended. */
  body: string;
}

/** Consecutive server-sent events; the last one has the sequence `lastSequence`. */
export interface EventBatch {
  lastSequence: number;
  text: string;
}

/** The end of a background response. */
export interface BackgroundEnd {
  id: string;
  workspaceId: string;
  /** The response object, JSON text. */
  body: string;
  /** The output items for continuations, with sealed reasoning, JSON text. */
  output: string;
  lastSequence: number | null;
}

export interface BackgroundStore {
  /** `secrets`: those of its call. */
  start(record: BackgroundResponse, secrets?: KnownSecrets): Promise<void>;
  /** Turns it into a stored response. Resolves to false when it is not running or was deleted. */
  finish(end: BackgroundEnd, secrets?: KnownSecrets): Promise<boolean>;
  /** A response of this workspace that has not expired at `at`, as it is shown: without secrets. */
  byId(workspaceId: string, id: string, at: number): Promise<BackgroundResponse | undefined>;
  /** The responses of a daemon that have not ended. */
  running(daemon: number): Promise<{ workspaceId: string; id: string }[]>;
  appendEvents(responseId: string, batch: EventBatch): Promise<void>;
  /** The first batch that ends after this sequence; -1 for the first one. */
  eventsAfter(responseId: string, sequence: number): Promise<EventBatch | undefined>;
  /** Deletes up to `limit` expired responses; resolves to how many. */
  removeExpired(at: number, limit: number): Promise<number>;
}
