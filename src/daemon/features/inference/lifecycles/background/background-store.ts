/** A response that is made while nobody has to wait for it. It is a stored response from its end on. */
export interface BackgroundResponse {
  id: string;
  workspaceId: string;
  requestId: string;
  previousId: string | null;
  /** Whether its events are kept, so that it can be followed. */
  streamed: boolean;
  /** Until it has ended. */
  isRunning: boolean;
  /** The sequence of its last event; null while it runs, without events, and where they broke off. */
  lastSequence: number | null;
  createdAt: number;
  expiresAt: number;
  /** The input items of this call alone, JSON text; empty once it has ended. */
  input: string;
  /** The response object as it was queued, JSON text; empty once it has ended. */
  body: string;
}

/** Some events in a row, as they are sent: whole server-sent events of which the last has this sequence. */
export interface EventBatch {
  lastSequence: number;
  text: string;
}

/** What a background response has come to. */
export interface BackgroundEnd {
  id: string;
  /** The response object, JSON text. */
  body: string;
  /** The output items that a continuation is built on, with sealed reasoning, JSON text. */
  output: string;
  lastSequence: number | null;
}

export interface BackgroundStore {
  start(record: BackgroundResponse): Promise<void>;
  /** Makes it a stored response; false when it is not running, or is deleted. */
  finish(end: BackgroundEnd): Promise<boolean>;
  /** Unexpired at `at`, of this workspace. */
  byId(workspaceId: string, id: string, at: number): Promise<BackgroundResponse | undefined>;
  /** Ids of those that have not ended: at a start, what an earlier daemon left behind. */
  running(): Promise<{ workspaceId: string; id: string }[]>;
  appendEvents(responseId: string, batch: EventBatch): Promise<void>;
  /** The first batch that ends after this sequence (-1: the first of all). */
  eventsAfter(responseId: string, sequence: number): Promise<EventBatch | undefined>;
  /** Drops some of what has expired; 0 when nothing is left to drop. */
  removeExpired(at: number, limit: number): Promise<number>;
}
