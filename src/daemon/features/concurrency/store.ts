/** A limit as the daemons of a database share it. */
export interface SharedLimit {
  name: string;
  /** Calls that run at a time on all daemons. */
  calls: number;
}

export interface SharedAnswer {
  /** The numbers of the slots; undefined if one of the limits has none for this daemon. */
  taken: number[] | undefined;
  /** Of each limit: the slots of other daemons, and those that are due to them. */
  elsewhere: number[];
}

/**
 * The slots that calls of all daemons have. A daemon that is refused one is due the next before those that ask later; what a
 * daemon leaves behind is freed by the one that finishes its work.
 */
export interface SlotsStore {
  /** Takes a slot of each limit, or none. */
  take(limits: readonly SharedLimit[]): Promise<SharedAnswer>;
  /** Of each limit: the slots of other daemons, and those that are due to them. */
  elsewhere(names: readonly string[]): Promise<number[]>;
  /** Gives slots of this daemon back. */
  release(slots: readonly number[]): Promise<void>;
  /** No call of this daemon waits for these limits any more. */
  leave(names: readonly string[]): Promise<void>;
  /** Frees what a daemon that is gone had. */
  releaseLeft(daemon: number): Promise<number>;
}
