/** The share of a period from which on its spending says something about the rest. */
const knownShare = 0.02;

/** Times in milliseconds since 1970; `end` is undefined if the period never ends. */
interface Period {
  start: number;
  end: number | undefined;
  now: number;
}

/**
 * Spending at the end of a period if it goes on as so far, in proportion to the time, and when the amount is reached if that is
 * later in the period; null without a period, and in its first fiftieth. Amounts in nano-dollars.
 */
export function spendForecast(
  { spent, amount }: { spent: number; amount: number },
  { start, end, now }: Period,
): { spent: number; reachedAt: number | undefined } | null {
  if (end === undefined) return null;
  const share = (now - start) / (end - start);
  if (share < knownShare) return null;
  const total = Math.min(Math.round(spent / share), Number.MAX_SAFE_INTEGER);
  const isReachedLater = spent < amount && total > amount;
  const reachedAt = isReachedLater ? Math.round(start + ((now - start) * amount) / spent) : undefined;
  return { spent: total, reachedAt };
}
