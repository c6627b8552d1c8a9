/**
 * The daemons that serve a database, or served it. What a call, a claim, a run or a payment leaves unfinished belongs to the
 * daemon that started it.
 */
export interface DaemonsStore {
  /** The number of this daemon. */
  readonly own: number;
  /** The daemons that are gone and whose work this one is to finish, oldest first. */
  left(): Promise<number[]>;
  /**
   * Stores what identifies the data key, an integer of 48 bits, unless another one is stored that is not replaced; resolves to
   * what is stored then.
   */
  markDataKey(mark: number, options: { isReplaced: boolean }): Promise<number>;
  /** Removes a daemon whose work is finished. */
  remove(daemon: number): Promise<void>;
}
