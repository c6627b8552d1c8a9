import type { Change } from '../../../base/changes.ts';
import { announcedWrites, changesBy } from '../../sqlite/announced-writes.ts';
import type { CommandSource } from '../../sqlite/engine/serve-writes.ts';
import type { Commands } from '../../sqlite/engine/write-batch.ts';
import type { PostgresConnection } from './connection.ts';
import { serverClock } from './locks.ts';

/** How long changes are stored, in milliseconds. */
export const keptMs = 60 * 60 * 1000;
const prunedMax = 100;

/** Stores changes that no other write makes. */
export type ChangesWrites = { 'changes.announce': (changes: readonly Change[]) => void };

/**
 * The commands of a source, of which those that change what daemons keep in memory also store what they have changed, in the
 * same transaction, for the other daemons of the database.
 */
export function recordingChanges(
  source: CommandSource,
  { connection, daemon }: { connection: PostgresConnection; daemon: number },
): CommandSource {
  const insert = connection.prepare(
    `INSERT INTO changes (number, daemon, changes, at)
     SELECT coalesce(max(number), 0) + 1, @daemon, @changes, ${serverClock} FROM changes`,
  );
  // The newest one is always kept: numbers go on from there.
  const prune = connection.prepare(
    `DELETE FROM changes WHERE number IN (
       SELECT number FROM (SELECT number, at FROM changes ORDER BY number LIMIT ${prunedMax}) AS oldest
       WHERE at < ${serverClock} - ${keptMs})`,
  );
  const record = (changes: readonly Change[]): void => {
    if (changes.length === 0) return;
    insert.run({ daemon, changes: JSON.stringify(changes) });
    prune.run();
  };
  const recording = (commands: Commands): Commands =>
    Object.fromEntries(
      Object.entries(commands).map(([name, run]) => [
        name,
        announcedWrites.has(name) ? recorded(name, run) : run,
      ]),
    );
  const recorded = (name: string, run: Commands[string]) => (data: never) => {
    const result = run(data);
    record(changesBy(name, data, result));
    return result;
  };
  const own: ChangesWrites = { 'changes.announce': record };
  return {
    ...source,
    commands: { ...recording(source.commands), ...own },
    loadMore: async () => recording(await source.loadMore()),
  };
}
