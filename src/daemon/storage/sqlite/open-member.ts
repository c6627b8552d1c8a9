import type { MessagePort } from 'node:worker_threads';
import type { NewEvent } from '../../features/events/index.ts';
import type { UsageRecord } from '../../features/metering/index.ts';
import { onlyMember } from '../only-member.ts';
import type { MemberChanges } from '../shared-changes.ts';
import { announcing } from './announced-writes.ts';
import { ownDaemon } from './daemons/own-daemon.ts';
import { openForReading } from './engine/connection.ts';
import { readMeta } from './engine/meta.ts';
import { NameTexts } from './engine/names.ts';
import { createOrm } from './engine/orm.ts';
import { PortWriter } from './engine/port-writer.ts';
import { notePassedTime } from './note-passed-time.ts';
import { readerOf } from './reader-of.ts';
import { stores } from './stores.ts';
import type { WriteCommands } from './write-commands.ts';

interface MemberOptions {
  /** Wall clock, milliseconds since 1970; by default that of the machine. */
  now?: () => number;
  /** Milliseconds of a clock that only goes forward; by default that of the machine. */
  elapsed?: () => number;
  /** The database, which another thread has open. */
  file: string;
  /** What `Writer.connect` of that thread returned. */
  port: MessagePort;
  changes: MemberChanges;
  /** Derives the event of a settled call, which is not stored twice. */
  settledEvent: (call: UsageRecord) => NewEvent;
}

/**
 * The stores of a thread over a database that another thread opened: it reads with a connection of its own, and its writes are
 * committed together with those of the others. The thread that opened it guards its files and closes it last.
 */
export function openSqliteMember({
  now = Date.now,
  elapsed,
  file,
  port,
  changes,
  settledEvent,
}: MemberOptions) {
  const database = openForReading(file);
  const writer = new PortWriter<WriteCommands>(port);
  const reader = readerOf(file);
  const checker = readerOf(file, { hasLowPriority: true });
  const context = {
    database,
    daemon: ownDaemon(database),
    orm: createOrm(database),
    names: new NameTexts(database),
    writer: announcing(writer, changes),
    reader,
    checker,
  };
  return {
    ...stores(context, settledEvent),
    members: onlyMember,
    changes,
    state: () => ({ writable: writer.problem === undefined, reason: writer.problem }),
    passed: notePassedTime(context.writer, { now, elapsed, noted: readMeta(database, 'last_seen') ?? now() }),
    writesWaiting: () => writer.pending,
    async close(): Promise<void> {
      await Promise.all([reader.close(), checker.close()]);
      await writer.close();
      database.close();
    },
  };
}
