import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { KeyLimits } from '../../../base/handler.ts';
import type { BudgetRule } from './budget-rule.ts';
import type { RateWindow } from './rate-window.ts';
import type { BalanceTotals, KeyTotals } from './running-totals.ts';
import type { SubjectTotals } from './subject-totals.ts';

/** What limits a key, and the key that issued it. */
export interface LimitedKey {
  readonly keyId: string;
  readonly parent: LimitedKey | undefined;
  readonly limits: Pick<KeyLimits, 'spendCap' | 'requestsPerMinute'> | null;
  /** As in `KeyPolicy`. */
  readonly isAutopilot?: true;
}

/** Budgets of one scope, and what their calls spent and hold. */
interface CountedBudgets {
  readonly rules: readonly BudgetRule[];
  readonly totals: SubjectTotals;
}

/** What the limits of a call have counted. A limit whose totals are undefined does not apply. */
export interface CountedLimits {
  key: LimitedKey | undefined;
  totalsOf: (key: LimitedKey) => KeyTotals | undefined;
  budgets: readonly CountedBudgets[];
  balance: BalanceTotals | undefined;
}

/** The limit that leaves the least, and what counts against it. */
export type Shortage =
  | { kind: 'cap'; keyId: string; spent: NanoUsd; held: NanoUsd }
  | { kind: 'budget'; id: string; spent: NanoUsd; held: NanoUsd }
  /** `byOthers`: what the other limits leave; infinite without one. */
  | { kind: 'balance'; balance: NanoUsd; held: NanoUsd; byOthers: NanoUsd };

/** The most that a call may hold at a time, infinite without a limit, and the limit that says so. */
export function affordableUnder(
  { key: own, totalsOf, budgets, balance }: CountedLimits,
  now: number,
): { affordable: NanoUsd; shortage: Shortage | undefined } {
  let affordable = Number.POSITIVE_INFINITY;
  let shortage: Shortage | undefined;
  for (let key = own; key; key = key.parent) {
    const cap = key.limits?.spendCap;
    const totals = cap && totalsOf(key);
    if (!totals || totals.available(cap, now) >= affordable) continue;
    affordable = totals.available(cap, now);
    shortage = { kind: 'cap', keyId: key.keyId, spent: totals.spentOf(cap, now), held: totals.held };
  }
  for (const { rules, totals } of budgets) {
    for (const rule of rules) {
      if (!rule.isHard) continue;
      const spent = totals.spentIn(rule.period, now);
      const available = rule.amount - spent - totals.held;
      if (available >= affordable) continue;
      affordable = available;
      shortage = { kind: 'budget', id: rule.id, spent, held: totals.held };
    }
  }
  if (balance && balance.available() < affordable) {
    shortage = { kind: 'balance', balance: balance.balance, held: balance.held, byOthers: affordable };
    affordable = balance.available();
  }
  return { affordable: Math.max(0, affordable), shortage };
}

/** What a limit leaves of a call, and the limit. */
export type Left = ReturnType<typeof affordableUnder>;

/** What the budgets of the model and provider of a route leave of a call that it answers. */
export function affordableOn(budgets: readonly CountedBudgets[], now: number): Left {
  return affordableUnder({ key: undefined, totalsOf: () => undefined, budgets, balance: undefined }, now);
}

/** What refuses a call that may be on none of its routes: the limit of all, or that of the route of which the most is left. */
export function decisiveLeft(common: Left, routes: readonly Left[]): Left {
  const most = routes.reduce((best, left) => (left.affordable > best.affordable ? left : best));
  if (common.shortage && common.affordable <= most.affordable) return common;
  return most.shortage ? most : (routes.find(({ shortage }) => shortage) ?? common);
}

/** The first rate that a call would exceed, and in how many milliseconds it no longer does; undefined if it may start. */
export function exceededRate(
  own: LimitedKey | undefined,
  windowOf: (keyId: string) => RateWindow,
  now: number,
): { limit: number; waitMs: number } | undefined {
  for (let key = own; key; key = key.parent) {
    const limit = key.limits?.requestsPerMinute;
    const waitMs = limit ? windowOf(key.keyId).waitMs(limit, now) : 0;
    if (limit && waitMs > 0) return { limit, waitMs };
  }
  return undefined;
}
