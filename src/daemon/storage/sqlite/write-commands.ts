import { autopilotsCommands } from './autopilots/writes.ts';
import { backgroundCommands } from './background/writes.ts';
import { cacheCommands } from './cache/writes.ts';
import type { Connection } from './engine/connection.ts';
import { drizzle } from './engine/orm.ts';
import { eventsCommands } from './events/writes.ts';
import { idempotencyCommands } from './idempotency/writes.ts';
import { keysCommands } from './keys/writes.ts';
import type { Totals } from './ledger/batch-totals.ts';
import { ledgerCommands } from './ledger/writes.ts';
import type { meteringCommands } from './metering/writes.ts';
import { profileCommands } from './profile/writes.ts';
import type { responseInsert } from './responses/insert.ts';
import { responsesCommands } from './responses/writes.ts';
import { talkCommands } from './talk-writes.ts';
import { threadsCommands } from './threads/writes.ts';
import { tokensCommands } from './tokens/writes.ts';
import { providerKeysCommands } from './vault/provider-key-writes.ts';
import { vaultCommands } from './vault/writes.ts';
import { invitationCommands } from './workspaces/invitation-writes.ts';
import { membershipCommands } from './workspaces/membership-writes.ts';
import { peopleCommands } from './workspaces/user-writes.ts';
import { workspacesCommands } from './workspaces/workspace-writes.ts';

/** Every write that is not part of a model call; loaded when the first one comes, as drizzle takes its time to load. */
export function otherCommands(database: Connection, totals: Totals) {
  const orm = drizzle(database);
  return {
    ...keysCommands(database, orm),
    ...ledgerCommands(database, orm, totals),
    ...workspacesCommands(orm),
    ...peopleCommands(orm),
    ...membershipCommands(orm),
    ...invitationCommands(orm),
    ...tokensCommands(orm),
    ...profileCommands(database),
    ...talkCommands(database),
    ...autopilotsCommands(orm),
    ...responsesCommands(orm),
    ...backgroundCommands(database, orm),
    ...threadsCommands(database),
    ...idempotencyCommands(database, orm),
    ...cacheCommands(database),
    ...vaultCommands(orm),
    ...providerKeysCommands(orm),
    ...eventsCommands(database, orm, totals),
  };
}

/** All writes by name; what they take is plain data, what they return is told after COMMIT. */
export type WriteCommands = ReturnType<typeof meteringCommands> &
  ReturnType<typeof responseInsert> &
  ReturnType<typeof otherCommands>;
