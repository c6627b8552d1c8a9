import type { Migration } from '../migrate.ts';
import { first } from './0014-first.ts';
import { loginUses } from './0015-login-uses.ts';
import { wallets } from './0016-wallets.ts';
import { calls } from './0017-calls.ts';
import { rejections } from './0018-rejections.ts';
import { checkpoint } from './0019-checkpoint.ts';
import { agents } from './0020-agents.ts';
import { walletBackends } from './0021-wallet-backends.ts';
import { paymentBudgets } from './0022-payment-budgets.ts';
import { decisions } from './0024-decisions.ts';
import { paywalls } from './0025-paywalls.ts';
import { responsesByWorkspace } from './0026-responses-by-workspace.ts';
import { paymentChallenges } from './0027-payment-challenges.ts';
import { paywallCharges } from './0028-paywall-charges.ts';
import { peers } from './0029-peers.ts';
import { walletNodes } from './0030-wallet-nodes.ts';
import { autopilotRuns } from './0032-autopilot-runs.ts';
import { lateReceipts } from './0033-late-receipts.ts';
import { peerAgreement } from './0036-peer-agreement.ts';
import { usageKeys } from './0037-usage-keys.ts';
import { usedChallenges } from './0038-used-challenges.ts';
import { boundedReads } from './0039-bounded-reads.ts';
import { chargeRights } from './0040-charge-rights.ts';
import { replacedWallets } from './0041-replaced-wallets.ts';
import { tokensSeen } from './0042-tokens-seen.ts';
import { autopilotSchedules } from './0043-autopilot-schedules.ts';
import { callLabels } from './0044-call-labels.ts';
import { usageSlots } from './0045-usage-slots.ts';
import { paywallOrigins } from './0046-paywall-origins.ts';

/** All migrations, oldest first. Never edit a released one: add a new file instead. */
export const migrations: readonly Migration[] = [
  first,
  loginUses,
  wallets,
  calls,
  rejections,
  checkpoint,
  agents,
  walletBackends,
  paymentBudgets,
  decisions,
  paywalls,
  responsesByWorkspace,
  paymentChallenges,
  paywallCharges,
  peers,
  walletNodes,
  autopilotRuns,
  lateReceipts,
  peerAgreement,
  usageKeys,
  usedChallenges,
  boundedReads,
  chargeRights,
  replacedWallets,
  tokensSeen,
  autopilotSchedules,
  callLabels,
  usageSlots,
  paywallOrigins,
];
