/**
 * The daemons that serve a database, or served it. What a call, a claim, a run or a payment leaves unfinished belongs to the
 * daemon that started it.
 */
export interface DaemonsStore {
  /** The number of this daemon. */
  readonly own: number;
  /** The daemons that are gone and whose work this one is to finish, oldest first. */
  left(): Promise<number[]>;
  /** Removes a daemon whose work is finished. */
  remove(daemon: number): Promise<void>;
}
