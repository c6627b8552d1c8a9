import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { LeftOnRoute } from '../rules/held-routes.ts';

interface WantedOutput {
  isWhole: boolean;
  /** Set if budgets count the call by its route. */
  leftOn?: LeftOnRoute;
}

/** Returns the amount to hold within the affordable one, or undefined if that is too little for the call or its whole output. */
export type Fit = (affordable: NanoUsd, output: WantedOutput) => NanoUsd | undefined;

/** How often a call asks for less than it did, as what others leave changes meanwhile. */
export const turnsMax = 8;

/** What a call may hold of what it can afford; undefined if that is too little. Throws a RangeError if `fit` returns more. */
export function fitWithin(fit: Fit, affordable: NanoUsd, output: WantedOutput): NanoUsd | undefined {
  const amount = fit(affordable, output);
  if (amount !== undefined && amount > affordable)
    throw new RangeError(`${amount} does not fit into ${affordable}`);
  return amount;
}
