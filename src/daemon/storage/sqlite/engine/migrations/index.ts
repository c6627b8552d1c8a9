import type { Migration } from '../migrate.ts';
import { chargeRights } from './0040-charge-rights.ts';
import { replacedWallets } from './0041-replaced-wallets.ts';
import { tokensSeen } from './0042-tokens-seen.ts';
import { autopilotSchedules } from './0043-autopilot-schedules.ts';
import { callLabels } from './0044-call-labels.ts';
import { usageSlots } from './0045-usage-slots.ts';
import { paywallOrigins } from './0046-paywall-origins.ts';
import { autopilotDirectory } from './0047-autopilot-directory.ts';
import { walletReconciliations } from './0048-wallet-reconciliations.ts';
import { declaredPayments } from './0049-declared-payments.ts';
import { daemons } from './0050-daemons.ts';
import { browserLogins } from './0051-browser-logins.ts';
import { budgets } from './0052-budgets.ts';
import { captureLevels } from './0053-capture-levels.ts';
import { labelSlots } from './0054-label-slots.ts';
import { alerts } from './0055-alerts.ts';
import { daemonTerms } from './0056-daemon-terms.ts';
import { severalDaemons } from './0057-several-daemons.ts';
import { freeHolds } from './0058-free-holds.ts';
import { changes } from './0059-changes.ts';
import { makers } from './0060-makers.ts';
import { rejectionTotals } from './0061-rejection-totals.ts';
import { keyRotation } from './0062-key-rotation.ts';
import { namedProviderKeys } from './0063-named-provider-keys.ts';
import { callSlots } from './0064-call-slots.ts';
import { budgetCalendars } from './0065-budget-calendars.ts';
import { cachedFor } from './0066-cached-for.ts';
import { untaggedCalls } from './0067-untagged-calls.ts';

/** All migrations, oldest first. Never edit a released one: add a new file instead. */
export const migrations: readonly Migration[] = [
  chargeRights,
  replacedWallets,
  tokensSeen,
  autopilotSchedules,
  callLabels,
  usageSlots,
  paywallOrigins,
  autopilotDirectory,
  walletReconciliations,
  declaredPayments,
  daemons,
  browserLogins,
  budgets,
  captureLevels,
  labelSlots,
  alerts,
  daemonTerms,
  severalDaemons,
  freeHolds,
  changes,
  makers,
  rejectionTotals,
  keyRotation,
  namedProviderKeys,
  callSlots,
  budgetCalendars,
  cachedFor,
  untaggedCalls,
];
