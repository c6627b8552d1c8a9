import type { World } from '../../base/world.ts';

/** Earned by each call, in tenths of a retry. */
const earnedTenths = 1;
/** The initial balance of a provider, and its maximum. */
const reserveTenths = 100;
/** One retry is added at this interval, so that providers with few calls have some, too. */
const refillEveryMs = 30_000;

interface Balance {
  tenths: number;
  /** Monotonic time of the last refill. */
  at: number;
}

/**
 * Limits how many calls are retried at the provider that has just failed them. Retrying every call would double the load
 * of a provider that is breaking under it; this adds a tenth, and a reserve of ten.
 */
export class RetryBudget {
  readonly #world: Pick<World, 'elapsed'>;
  readonly #balances = new Map<string, Balance>();

  constructor(world: Pick<World, 'elapsed'>) {
    this.#world = world;
  }

  /** Counts a call's first attempt at a provider. */
  earn(provider: string): void {
    const balance = this.#balanceOf(provider);
    balance.tenths = Math.min(reserveTenths, balance.tenths + earnedTenths);
  }

  /** Takes one retry; false when none is left. */
  take(provider: string): boolean {
    const balance = this.#balanceOf(provider);
    const { at } = balance;
    const refills = Math.floor((this.#world.elapsed() - at) / refillEveryMs);
    balance.at = at + refills * refillEveryMs;
    balance.tenths = Math.min(reserveTenths, balance.tenths + refills * 10);
    if (balance.tenths < 10) return false;
    balance.tenths -= 10;
    return true;
  }

  #balanceOf(provider: string): Balance {
    let balance = this.#balances.get(provider);
    if (balance === undefined) {
      balance = { tenths: reserveTenths, at: this.#world.elapsed() };
      this.#balances.set(provider, balance);
    }
    return balance;
  }
}
