import type { World } from '../../world.ts';

/** Of each call, in tenths of a repetition. */
const earnedTenths = 1;
/** What a provider begins with, and the most that it can have saved. */
const reserveTenths = 100;
/** So often one more is given, so that a provider with few calls has some, too. */
const givenEveryMs = 30_000;

interface Balance {
  tenths: number;
  /** When it was last added to, by the clock that only goes forward. */
  at: number;
}

/**
 * How many calls may be repeated at the provider that has just failed them. A provider that breaks under its load would
 * be sent twice of it if every call were: it gets a tenth more than was asked, and a reserve of ten.
 */
export class RetryBudget {
  readonly #world: Pick<World, 'elapsed'>;
  readonly #balances = new Map<string, Balance>();

  constructor(world: Pick<World, 'elapsed'>) {
    this.#world = world;
  }

  /** A call goes to a provider for the first time. */
  earn(provider: string): void {
    const balance = this.#balanceOf(provider);
    balance.tenths = Math.min(reserveTenths, balance.tenths + earnedTenths);
  }

  /** Takes a repetition; false when there is none left. */
  take(provider: string): boolean {
    const balance = this.#balanceOf(provider);
    const { at } = balance;
    const now = this.#world.elapsed();
    const given = Math.floor((now - at) / givenEveryMs);
    balance.at = at + given * givenEveryMs;
    balance.tenths = Math.min(reserveTenths, balance.tenths + given * 10);
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
