/** In place of a workspace: of events without one, such as a call with an unknown key, which only the host's owner reads. */
export const hostEvents = '';

/** A stored event, from which a reader that was disconnected can catch up. */
export interface EventRecord {
  /** Increases in commit order, not necessarily by one; the `Last-Event-ID` of the stream. */
  sequence: number;
  /** `request.completed`, `key.revoked`, … */
  type: string;
  /** Or `hostEvents`. */
  workspaceId: string;
  at: number;
  data: Record<string, unknown>;
}

export type NewEvent = Omit<EventRecord, 'sequence'>;

export interface EventsStore {
  /** Returns the event's sequence. A settled call is an event without being appended. */
  append(event: NewEvent): Promise<number>;
  /** The events of workspaces after `sequence`, oldest first. */
  after(workspaceIds: readonly string[], sequence: number, limit: number): Promise<EventRecord[]>;
  /** Events up to this sequence, of all workspaces, were removed; 0 before the first was. */
  prunedTo(): Promise<number>;
  /** The sequence of the newest event, 0 before the first. */
  last(): Promise<number>;
  /** Removes events older than `before` or beyond the newest `keep`; returns their number. */
  prune(before: number, keep: number): Promise<number>;
}
