/** A daemon that serves the database, or whose work is not finished yet. Times are milliseconds since 1970. */
export interface DaemonRecord {
  number: number;
  /** The name of its machine. */
  name: string | null;
  /** Where it listens; null before it does. */
  address: string | null;
  version: string | null;
  startedAt: number;
  /** When it last renewed its term, by the clock of the server; null where it has none. */
  renewedAt: number | null;
  /** Whether its term lasts. */
  isRunning: boolean;
  /** The daemon that finishes its work. */
  successor: number | null;
}

/**
 * The daemons that serve a database, or served it. What a call, a claim, a run or a payment leaves unfinished belongs to the
 * daemon that started it.
 */
export interface DaemonsStore {
  /** The number of this daemon. */
  readonly own: number;
  /** All daemons by number. */
  list(): Promise<DaemonRecord[]>;
  /** Stores where this daemon listens. */
  setAddress(address: string): Promise<void>;
  /** The daemons that are gone and whose work this one is to finish, oldest first. */
  left(): Promise<number[]>;
  /**
   * Stores what identifies the data key, an integer of 48 bits, unless another one is stored that is not replaced; resolves to
   * what is stored then.
   */
  markDataKey(mark: number, options: { isReplaced: boolean }): Promise<number>;
  /** Makes this daemon finish the work of one whose term has ended. Resolves to false if it has not, or another one does. */
  adopt(daemon: number): Promise<boolean>;
  /** Removes a daemon whose work is finished. */
  remove(daemon: number): Promise<void>;
}
