import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import { utcDay } from '../../../shared/time/time.ts';
import type { Offer } from '../catalog/index.ts';
import { SourceFailure } from './decision-source.ts';
import type { DecisionsStore } from './store.ts';

interface HostBudgetDeps {
  store: Pick<DecisionsStore, 'spentOn' | 'spend'>;
  now: () => number;
  /** The maximum that decisions may cost the host per UTC day, in nano-dollars; a reload changes it. */
  settings: { readonly budget: NanoUsd };
}

/** The cost of decisions to the host: they are free for callers, so a day's total is limited. */
export class HostBudget {
  readonly #deps: HostBudgetDeps;
  #day = '';
  #spent: NanoUsd = 0;
  #unsaved: NanoUsd = 0;

  constructor(deps: HostBudgetDeps) {
    this.#deps = deps;
  }

  /** Loads what was spent today; to be awaited before `check`. */
  async ready(): Promise<void> {
    const day = utcDay(this.#deps.now());
    if (day === this.#day) return;
    const spent = await this.#deps.store.spentOn(day);
    // Another call may have loaded the day meanwhile, and spent some of it.
    if (day === this.#day) return;
    this.#day = day;
    this.#spent = spent;
  }

  /** Fails with a `SourceFailure` if a model costs the host money and nothing is left of today's budget. */
  check(offer: Pick<Offer, 'prices' | 'kind'>): void {
    if (isFree(offer) || this.#spent < this.#deps.settings.budget) return;
    throw new SourceFailure(
      'budget_used',
      'what decisions may cost the host today is used up: see decisions.daily_budget_usd',
    );
  }

  spend(amount: NanoUsd): void {
    this.#spent += amount;
    this.#unsaved += amount;
  }

  /** Stores what was spent since the last time. */
  async save(): Promise<void> {
    if (this.#unsaved === 0) return;
    const amount = this.#unsaved;
    this.#unsaved = 0;
    try {
      await this.#deps.store.spend(this.#day, amount);
    } catch (error) {
      this.#unsaved += amount;
      throw error instanceof ApiError ? error : new ApiError('unavailable', { cause: error });
    }
  }
}

/** Whether a model costs nothing: the simulator, local servers, and models whose configured prices are 0. */
export function isFree({ prices, kind }: Pick<Offer, 'prices' | 'kind'>): boolean {
  if (kind === 'simulator' || kind === 'local') return true;
  return prices !== null && prices.input === 0 && prices.output === 0;
}
