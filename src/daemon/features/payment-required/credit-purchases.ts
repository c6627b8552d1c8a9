import { inputFault } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { parseUsd } from '../../../shared/money/money.ts';
import type { OnFailure } from '../../base/feature.ts';
import { fromNowOn, type World, within } from '../../base/world.ts';
import type { Challenges, Payer } from './challenges.ts';
import type { PaidCalls } from './paid-calls.ts';
import { msatFor } from './rates.ts';
import type { Challenge, ChallengesStore } from './store.ts';

export interface CreditPurchasesDeps {
  store: ChallengesStore;
  challenges: Pick<Challenges, 'forCredit'>;
  paidCalls: Pick<PaidCalls, 'redeem'>;
  world: Pick<World, 'now' | 'sleep'>;
}

const sweepEveryMs = 30_000;
const redeemBatch = 100;
const removeBatch = 100;
/** How long an expired invoice is kept; it cannot be paid any more. */
const keepExpiredMs = 24 * 60 * 60 * 1000;

/** Credit that is bought with an invoice, and all other payments that became credit without a call. */
export class CreditPurchases {
  readonly #deps: CreditPurchasesDeps;
  /** Callbacks that wait for a payment, by challenge. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(deps: CreditPurchasesDeps) {
    this.#deps = deps;
  }

  /**
   * Issues an invoice for credit. Fails with `rate_limited`, and with `unavailable` and the reason if the host cannot issue
   * invoices.
   */
  async start(payer: Payer, { usd, sats }: { usd?: string | undefined; sats?: number | undefined }) {
    if (sats !== undefined) return await this.#deps.challenges.forCredit(payer, () => sats * 1000);
    const worth = parseUsd(usd ?? '');
    if (worth === undefined) throw inputFault('usd', 'is no amount of dollars');
    return await this.#deps.challenges.forCredit(payer, (rate) => msatFor(worth, rate));
  }

  /** A purchase of the workspace. If it is open, waits for its payment at most `waitMs`. Fails with `not_found`. */
  async find(workspaceId: string, id: string, waitMs: number): Promise<Challenge> {
    const { world } = this.#deps;
    const found = await this.#find(workspaceId, id);
    if (waitMs === 0 || found.usedAt !== null || found.expiresAt <= world.now()) return found;
    const until = Math.min(found.expiresAt, world.now() + waitMs);
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(resolve));
      try {
        // It may have been paid since it was read.
        const current = await this.#find(workspaceId, id);
        const leftMs = until - world.now();
        if (current.usedAt !== null || leftMs <= 0) return current;
        await within(world, promise, leftMs);
      } finally {
        waiting.delete(resolve);
        if (waiting.size === 0) this.#waiting.delete(id);
      }
    }
  }

  /** To be called when any purchase may have been paid: those who wait for one look again. */
  readAgain(): void {
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
  }

  /** To be called when an invoice of the host was paid. */
  async paid(paymentHash: string): Promise<void> {
    const challenge = await this.#deps.store.byPaymentHash(paymentHash);
    if (challenge && challenge.request === null) await this.#redeem(challenge);
  }

  /** Credits payments that no call followed, until aborted. */
  keepSweeping(signal: AbortSignal, onFailure: OnFailure): Promise<void> {
    const times = { everyMs: sweepEveryMs, signal, onFailure };
    return fromNowOn(this.#deps.world, times, () => this.sweep(signal));
  }

  /** Credits what was paid while the daemon was not running or a call never came, and removes what was not paid. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { store, world } = this.#deps;
    for (const challenge of await store.redeemable(world.now(), redeemBatch)) {
      if (!signal.aborted) await this.#redeem(challenge);
    }
    let removed = removeBatch;
    while (removed === removeBatch && !signal.aborted) {
      removed = await store.removeExpired(world.now() - keepExpiredMs, removeBatch);
    }
  }

  async #redeem(challenge: Challenge): Promise<void> {
    await this.#deps.paidCalls.redeem(challenge);
    for (const wake of this.#waiting.get(challenge.id) ?? []) wake();
  }

  async #find(workspaceId: string, id: string): Promise<Challenge> {
    const challenge = await this.#deps.store.find(id);
    if (challenge?.request === null && challenge.workspaceId === workspaceId) return challenge;
    throw notFound('purchase', id, 'id');
  }
}
