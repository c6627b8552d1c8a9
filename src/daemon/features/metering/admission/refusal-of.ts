import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { BudgetRule } from '../rules/budget-rule.ts';
import type { LimitedKey, Shortage } from '../rules/limit-rules.ts';
import { type Fit, fitWithin } from './fit.ts';
import type { Refused } from './hold-queue.ts';
import { limitError } from './limit-errors.ts';

/** When a call may ask again that running ones leave too little. */
const retryAfterSeconds = 1;

interface Left {
  affordable: NanoUsd;
  shortage: Shortage | undefined;
  output: Parameters<Fit>[1];
}

interface RefusedCall {
  policy: LimitedKey | undefined;
  budgets: readonly { rules: readonly BudgetRule[] }[];
  now: number;
  /** What it asked for. */
  amount: NanoUsd;
  fit: Fit;
  /** Called if it is a budget that refuses it. */
  onNews: ((news: { rule: BudgetRule; spent: NanoUsd; at: number; percents: [] }) => void) | undefined;
}

/** Why a call may not start that its limits leave too little, and whether it could if those that run were free. */
export function refusalOf({ affordable, shortage, output }: Left, call: RefusedCall): Refused {
  const { amount, fit, onNews, now, ...limited } = call;
  const held = shortage?.held ?? 0;
  const atMost = affordable + held;
  const mayFit = held > 0 && (atMost >= amount || fitWithin(fit, atMost, output) !== undefined);
  const { error, rule, spent } = limitError(shortage, {
    ...limited,
    now,
    ...(mayFit && { retryAfterSeconds }),
  });
  return {
    error,
    limit: mayFit && shortage ? nameOf(shortage) : undefined,
    ...(rule && { onRefused: () => onNews?.({ rule, spent, at: now, percents: [] }) }),
  };
}

function nameOf(shortage: Shortage): string {
  if (shortage.kind === 'cap') return `cap ${shortage.keyId}`;
  return shortage.kind === 'budget' ? `budget ${shortage.id}` : 'balance';
}
