/** Something that happened, kept for a while so that a reader who was away can catch up. */
export interface EventRecord {
  /** Rises without gaps in the order of commits; the `Last-Event-ID` of the stream. */
  sequence: number;
  /** `request.completed`, `key.revoked`, … */
  type: string;
  workspaceId: string;
  at: number;
  data: Record<string, unknown>;
}

export type NewEvent = Omit<EventRecord, 'sequence'>;

export interface EventsStore {
  /** The sequence that the event got. Events of a settled call are written with its settlement instead. */
  append(event: NewEvent): Promise<number>;
  /** Those after `sequence` of one workspace, oldest first. */
  after(workspaceId: string, sequence: number, limit: number): Promise<EventRecord[]>;
  /** The sequence of the oldest event that is kept, of all workspaces; one more than `last` when none is. */
  first(): Promise<number>;
  last(): Promise<number>;
  /** Drops what is older than `before` or beyond the newest `keep`. */
  prune(before: number, keep: number): Promise<number>;
}
