import type { Connection } from '../../engine/connection.ts';
import { attemptSlotMs, labelKinds, slotDaysKept, slotMs, totalsFrom } from './slot-totals.ts';

const dayMs = 86_400_000;
/** Deleted at most with each fold, so that no fold takes long: more than it adds, but for calls with many labels. */
const keysAtOnce = 512;
const rowsAtOnce = 2_048;

interface Folded {
  workspace: number;
  /** The newest UTC day of the folded calls. */
  day: number;
}

/** Up to which day and key old totals are deleted. */
interface Pruned {
  day: number;
  key: number;
}

/** Before this time, totals of a workspace by key, label and attempt may be deleted, if its newest folded call is that old. */
export function slotsKeptFrom(newest: number): number {
  return (Math.floor(newest / dayMs) - slotDaysKept) * dayMs;
}

/** Deletes old totals by quarter of an hour, some with each fold. Those by day stay. */
export class SlotPruner {
  readonly #statements: ReturnType<typeof pruneStatements>;
  readonly #firstDay: number;

  constructor(database: Connection) {
    this.#statements = pruneStatements(database);
    this.#firstDay = Math.floor(totalsFrom(database) / dayMs);
  }

  /** Deletes totals of the workspaces of the calls that were just folded. */
  prune(range: { after: number; last: number }): void {
    const { folded, labels, attempts } = this.#statements;
    for (const { workspace, day } of folded.all(range)) {
      const from = day - slotDaysKept;
      for (const kind of Object.values(labelKinds))
        labels.run({ workspace, kind, before: (from * dayMs) / slotMs });
      attempts.run({ workspace, before: (from * dayMs) / attemptSlotMs });
      this.#pruneKeys(workspace, from);
    }
  }

  /** The totals by day list the keys of each day, so that a day is found without reading the keys of others. */
  #pruneKeys(workspace: number, before: number): void {
    const { pruned, nextDay, keysOfDay, keySlots, setPruned } = this.#statements;
    let position: Pruned = pruned.get(workspace) ?? { day: this.#firstDay, key: -1 };
    let left = keysAtOnce;
    while (left > 0) {
      const day = nextDay.get({ workspace, day: position.day });
      if (day === undefined || day >= before) break;
      const after = day === position.day ? position.key : -1;
      const keys = keysOfDay.all({ workspace, day, after, limit: left });
      for (const key of keys)
        keySlots.run({ workspace, key, from: (day * dayMs) / slotMs, to: ((day + 1) * dayMs) / slotMs });
      left -= keys.length;
      position = left > 0 ? { day: day + 1, key: -1 } : { day, key: keys.at(-1) ?? after };
    }
    if (left < keysAtOnce) setPruned.run({ workspace, ...position });
  }
}

function pruneStatements(database: Connection) {
  return {
    folded: database.prepare<[object], Folded>(
      `SELECT workspace, max(completed_at) / ${dayMs} AS day FROM calls
       WHERE number > @after AND number <= @last GROUP BY workspace`,
    ),
    labels: database.prepare<[object]>(
      `DELETE FROM usage_label_slots WHERE (workspace, kind, slot, value) IN (
         SELECT workspace, kind, slot, value FROM usage_label_slots
         WHERE workspace = @workspace AND kind = @kind AND slot < @before LIMIT ${rowsAtOnce})`,
    ),
    attempts: database.prepare<[object]>(
      `DELETE FROM attempt_slots WHERE (workspace, slot, provider, model, error_code, bucket) IN (
         SELECT workspace, slot, provider, model, error_code, bucket FROM attempt_slots
         WHERE workspace = @workspace AND slot < @before LIMIT ${rowsAtOnce})`,
    ),
    pruned: database.prepare<[number], Pruned>('SELECT day, key FROM pruned_slots WHERE workspace = ?'),
    nextDay: database
      .prepare<[object], number>(
        `SELECT start FROM usage_keys WHERE workspace = @workspace AND model = 0 AND days = 1 AND start >= @day
         ORDER BY start LIMIT 1`,
      )
      .pluck(),
    keysOfDay: database
      .prepare<[object], number>(
        `SELECT key FROM usage_keys
         WHERE workspace = @workspace AND model = 0 AND days = 1 AND start = @day AND key > @after ORDER BY key LIMIT @limit`,
      )
      .pluck(),
    keySlots: database.prepare<[object]>(
      `DELETE FROM usage_key_slots
       WHERE workspace = @workspace AND key = @key AND slot >= @from AND slot < @to`,
    ),
    setPruned: database.prepare<[object]>(
      `INSERT INTO pruned_slots (workspace, day, key) VALUES (@workspace, @day, @key)
       ON CONFLICT (workspace) DO UPDATE SET day = excluded.day, key = excluded.key`,
    ),
  };
}
