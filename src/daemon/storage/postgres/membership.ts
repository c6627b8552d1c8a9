import type { Members, Renewal } from '../../features/daemons/members.ts';
import { termMs } from '../sqlite/daemons/term-length.ts';
import { monotonicMs } from './engine/monotonic.ts';

/** The term counts as ended a little before others can take over, in milliseconds. */
const endMs = termMs - 500;
/** How often it is checked whether the term has ended, in milliseconds. */
const checkEveryMs = 250;

/** What this daemon knows of the others from the renewals of its term. */
export class Membership implements Members {
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #renewal: Renewal | undefined;
  #count = 1;
  #isCurrent = true;

  constructor() {
    this.#timer = setInterval(() => this.#check(), checkEveryMs).unref();
  }

  /** The number of this daemon. Throws before the first renewal. */
  get daemon(): number {
    return this.#known.daemon;
  }

  /** Call it with each renewal. */
  renewed(renewal: Renewal): void {
    this.#renewal = renewal;
    this.#count = renewal.members;
    this.#isCurrent = true;
    this.#notify();
  }

  /** Call it when the daemons were counted between renewals. */
  counted(count: number): void {
    this.#count = count;
  }

  readonly count = (): number => this.#count;

  isLeader(): boolean {
    return this.#known.isLeader && this.hasTerm();
  }

  hasLeft(): boolean {
    return this.#known.hasLeft;
  }

  hasTerm(): boolean {
    return this.sinceRenewal() < endMs;
  }

  sinceRenewal(): number {
    return monotonicMs() - this.#known.sentAt;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  get #known(): Renewal {
    if (!this.#renewal) throw new Error('the daemon is not registered');
    return this.#renewal;
  }

  #check(): void {
    if (!this.#isCurrent || !this.#renewal || this.hasTerm()) return;
    this.#isCurrent = false;
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
