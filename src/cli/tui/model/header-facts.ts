import { getKey, getSession } from '../../addresses.ts';
import type { Services } from '../screen.ts';

/** What the head of the screen says, as far as it is known. */
export interface HeaderFacts {
  workspace?: string;
  /** Null where the workspace pays afterwards. */
  balanceUsd?: string | null;
  spentTodayUsd?: string;
}

/** Asks who calls, where, and with how much money. What is refused is left out. */
export async function headerFacts({ client }: Services): Promise<HeaderFacts> {
  const key = await client.call(getKey, {});
  const session = await client.call(getSession, {}).catch(() => undefined);
  return {
    workspace: session?.workspace.slug ?? key.workspace,
    balanceUsd: key.balance_usd,
    spentTodayUsd: key.spend_usd.day,
  };
}
