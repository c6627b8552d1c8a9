/** What a daemon learns of the others when it renews its term. */
export interface Renewal {
  /** The number of this daemon. */
  daemon: number;
  /** When the renewal was sent, in milliseconds of a monotonic clock. */
  sentAt: number;
  /** The number of daemons whose term has not ended, including this one. */
  members: number;
  /** Whether this one has the lowest number of them. */
  isLeader: boolean;
  /** Whether daemons that are gone left work to this one. */
  hasLeft: boolean;
}

/** The daemons that serve a database together, as this one knows them. */
export interface Members {
  /** How many there are. */
  count(): number;
  /** Whether shared jobs run here: on the daemon with the lowest number, while its term lasts. */
  isLeader(): boolean;
  /** Whether daemons that are gone left work to this one. */
  hasLeft(): boolean;
  /** Whether this daemon may write: it renewed its term in time, or no other can use its database. */
  hasTerm(): boolean;
  /** Milliseconds since this daemon last renewed its term; 0 where no other can use its database. */
  sinceRenewal(): number;
  /**
   * Calls `listener` after each renewal, and when the term ends because it could not be renewed. Returns a function that
   * removes it.
   */
  onChange(listener: () => void): () => void;
}
