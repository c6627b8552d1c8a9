import type { Connection } from '../connection.ts';
import { drizzle } from '../orm.ts';
import type { Totals } from '../totals.ts';
import { autopilotsCommands } from './autopilots-commands.ts';
import { backgroundCommands } from './background-commands.ts';
import { cacheCommands } from './cache-commands.ts';
import { eventsCommands } from './events-commands.ts';
import { idempotencyCommands } from './idempotency-commands.ts';
import { invitationCommands } from './invitation-commands.ts';
import { keysCommands } from './keys-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { membershipCommands } from './membership-commands.ts';
import type { meteringCommands } from './metering-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { profileCommands } from './profile-commands.ts';
import { providerKeysCommands } from './provider-keys-commands.ts';
import type { responseInsert } from './response-insert.ts';
import { responsesCommands } from './responses-commands.ts';
import { talkCommands } from './talk-commands.ts';
import { threadsCommands } from './threads-commands.ts';
import { tokensCommands } from './tokens-commands.ts';
import { vaultCommands } from './vault-commands.ts';
import { workspacesCommands } from './workspaces-commands.ts';

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
