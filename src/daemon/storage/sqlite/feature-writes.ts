import { agentsWrites } from './agents/store.ts';
import { alertsWrites } from './alerts/writes.ts';
import { autopilotsWrites } from './autopilots/writes.ts';
import { budgetsWrites } from './budgets/store.ts';
import { cacheWrites } from './cache/store.ts';
import { decisionsWrites } from './decisions/store.ts';
import type { Connection } from './engine/connection.ts';
import { createOrm } from './engine/orm.ts';
import { eventsWrites } from './events/writes.ts';
import { idempotencyWrites } from './idempotency/store.ts';
import { keysWrites } from './keys/writes.ts';
import type { BatchTotals } from './metering/batch-totals.ts';
import { ledgerWrites } from './metering/ledger-writes.ts';
import { challengesWrites } from './payment-required/store.ts';
import { paywallsWrites } from './paywalls/writes.ts';
import { peersWrites } from './peers/store.ts';
import { profileWrites } from './profile/writes.ts';
import { backgroundWrites } from './responses/background-writes.ts';
import { responsesWrites } from './responses/writes.ts';
import { shoutsWrites } from './shouts/store.ts';
import { slotsWrites } from './slots/store.ts';
import { textsWrites } from './texts/writes.ts';
import { threadsWrites } from './threads/writes.ts';
import { tokensWrites } from './tokens/store.ts';
import { tracesWrites } from './traces/writes.ts';
import { providerKeysWrites, vaultWrites } from './vault/writes.ts';
import { walletWrites } from './wallet/writes.ts';
import { whispersWrites } from './whispers/store.ts';
import { codeWrites } from './workspaces/code-writes.ts';
import { invitationWrites } from './workspaces/invitation-writes.ts';
import { membershipWrites } from './workspaces/membership-writes.ts';
import { userWrites } from './workspaces/user-writes.ts';
import { workspacesWrites } from './workspaces/workspace-writes.ts';

/** Every write that is not part of a model call. */
export function featureWrites(database: Connection, totals: BatchTotals, daemon: number) {
  const orm = createOrm(database);
  return {
    ...keysWrites(database, orm),
    ...ledgerWrites(database, orm, totals),
    ...workspacesWrites(orm),
    ...userWrites(orm),
    ...codeWrites(database, orm),
    ...membershipWrites(orm),
    ...invitationWrites(orm),
    ...tokensWrites(orm),
    ...profileWrites(database, orm),
    ...whispersWrites(orm),
    ...shoutsWrites(orm),
    ...slotsWrites(database, orm, daemon),
    ...agentsWrites(orm),
    ...alertsWrites(orm, totals, daemon),
    ...autopilotsWrites(orm, daemon),
    ...budgetsWrites(orm, totals),
    ...decisionsWrites(orm),
    ...responsesWrites(orm),
    ...backgroundWrites(database, orm, daemon),
    ...textsWrites(database, orm, totals),
    ...threadsWrites(orm, daemon),
    ...idempotencyWrites(database, orm, daemon),
    ...cacheWrites(orm),
    ...vaultWrites(orm),
    ...providerKeysWrites(orm),
    ...walletWrites(database, orm, totals, daemon),
    ...paywallsWrites(database, orm),
    ...peersWrites(orm),
    ...challengesWrites(database, orm, totals),
    ...eventsWrites(database, orm, totals),
    ...tracesWrites(database, orm, totals),
  };
}
