import type { Migration } from '../migrate.ts';
import { first } from './0039-first.ts';
import { chargeRights } from './0040-charge-rights.ts';
import { replacedWallets } from './0041-replaced-wallets.ts';
import { tokensSeen } from './0042-tokens-seen.ts';
import { autopilotSchedules } from './0043-autopilot-schedules.ts';
import { callLabels } from './0044-call-labels.ts';
import { usageSlots } from './0045-usage-slots.ts';
import { paywallOrigins } from './0046-paywall-origins.ts';
import { autopilotDirectory } from './0047-autopilot-directory.ts';
import { walletReconciliations } from './0048-wallet-reconciliations.ts';

/** All migrations, oldest first. Never edit a released one: add a new file instead. */
export const migrations: readonly Migration[] = [
  first,
  chargeRights,
  replacedWallets,
  tokensSeen,
  autopilotSchedules,
  callLabels,
  usageSlots,
  paywallOrigins,
  autopilotDirectory,
  walletReconciliations,
];
