import { apiCallsScreen } from './api-calls.ts';
import { budgetsScreen } from './budgets.ts';
import { decisionsScreen } from './decisions.ts';
import { keysScreen } from './keys.ts';
import { modelsScreen } from './models.ts';
import { overviewScreen } from './overview.ts';
import { paywallsScreen } from './paywalls.ts';
import { providersScreen } from './providers.ts';
import type { Screen } from './screen.ts';
import { shoutsScreen } from './shouts.ts';
import { threadsScreen } from './threads.ts';
import { trafficScreen } from './traffic.ts';
import { usageScreen } from './usage.ts';
import { walletScreen } from './wallet.ts';
import { whispersScreen } from './whispers.ts';

/** All screens, in the order of the sidebar. */
export function allScreens(
  options: Parameters<typeof apiCallsScreen>[0] &
    Parameters<typeof trafficScreen>[0] &
    Parameters<typeof decisionsScreen>[0],
): Screen[] {
  return [
    overviewScreen(options),
    trafficScreen(options),
    keysScreen,
    usageScreen(options),
    modelsScreen,
    providersScreen,
    threadsScreen,
    whispersScreen,
    shoutsScreen,
    walletScreen(),
    apiCallsScreen(options),
    paywallsScreen,
    decisionsScreen(options),
    budgetsScreen,
  ] as Screen[];
}
