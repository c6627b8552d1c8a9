import type { Screen } from '../screen.ts';
import { callLogScreen } from './call-log.ts';
import { keysScreen } from './keys.ts';
import { modelsScreen } from './models.ts';
import { providersScreen } from './providers.ts';
import { shoutsScreen } from './shouts.ts';
import { threadsScreen } from './threads.ts';
import { trafficScreen } from './traffic.ts';
import { usageScreen } from './usage.ts';
import { whispersScreen } from './whispers.ts';

/** Every screen, in the order of the left list. */
export function allScreens(
  place: Parameters<typeof callLogScreen>[0] & Parameters<typeof trafficScreen>[0],
): Screen[] {
  return [
    trafficScreen(place),
    keysScreen,
    usageScreen,
    modelsScreen,
    providersScreen,
    threadsScreen,
    whispersScreen,
    shoutsScreen,
    callLogScreen(place),
  ] as Screen[];
}
