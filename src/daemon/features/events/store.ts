/** A stored event, from which a reader that was disconnected can catch up. */
export interface EventRecord {
  /** Increases without gaps in commit order; the `Last-Event-ID` of the stream. */
  sequence: number;
  /** `request.completed`, `key.revoked`, … */
  type: string;
  workspaceId: string;
  at: number;
  data: Record<string, unknown>;
}

export type NewEvent = Omit<EventRecord, 'sequence'>;

export interface EventsStore {
  /** Returns the event's sequence. A settled call is an event without being appended. */
  append(event: NewEvent): Promise<number>;
  /** A workspace's events after `sequence`, oldest first. */
  after(workspaceId: string, sequence: number, limit: number): Promise<EventRecord[]>;
  /** The sequence of the oldest event of all workspaces; `last` + 1 if there is none. */
  first(): Promise<number>;
  last(): Promise<number>;
  /** Removes events older than `before` or beyond the newest `keep`; returns their number. */
  prune(before: number, keep: number): Promise<number>;
}
