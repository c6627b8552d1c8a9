import { utcDay } from '../../../../shared/time.ts';
import type { PlacedAnswer } from '../../../features/idempotency/idempotency-store.ts';
import type {
  LeftHold,
  MeteringStore,
  Spend,
  UsageRecord,
} from '../../../features/metering/metering-store.ts';
import type { Attempt } from '../../../features/routing/index.ts';
import type { Connection } from '../engine/connection.ts';
import { eq, lt, type Orm } from '../engine/orm.ts';
import type { Reader } from '../engine/reader.ts';
import type { WriteOptions } from '../engine/write-queue.ts';
import type { Writer } from '../engine/writer.ts';
import { keyTree } from '../ledger/store.ts';
import { holdRow, type KeptSettlement, progressRow, settlementRow } from './rows.ts';
import { holds, usage } from './tables.ts';

/** A longer answer rides with large rows, and so does the settlement of its call. */
const answerWithMoneyBytesMax = 64 * 1024;

interface Sources {
  database: Connection;
  orm: Orm;
  writer: Writer;
  reader: Reader;
}

/** Holds, settlements and sums. A settlement whose hold has not left for the disk yet takes its place. */
export function meteringStore({ database, orm, writer, reader }: Sources): MeteringStore {
  const spend = database.prepare<[{ keyId: string; day: string; month: string }], Spend>(
    `${keyTree} SELECT coalesce(sum(amount), 0) AS total,
       coalesce(sum(amount) FILTER (WHERE day = @day), 0) AS day,
       coalesce(sum(amount) FILTER (WHERE substr(day, 1, 7) = @month), 0) AS month
     FROM key_spend WHERE key_id IN (SELECT id FROM tree)`,
  );

  return {
    // Whoever wants a whole answer waits for its settlement alone; a stream waits for the hold before its first byte.
    hold: (record) =>
      writer.write(record.isPrepaid ? 'metering.holdPrepaid' : 'metering.hold', holdRow(record), {
        replaceableAs: record.requestId,
        canLinger: !record.streamed,
      }),
    progress: (progress) => writer.write('metering.progress', progressRow(progress)),
    settle: (settlement) => {
      const { answer, usage: record, isPrepaid } = settlement;
      const row = settlementRow(settlement);
      const atOnce = isPrepaid ? 'metering.settleAtOncePrepaid' : 'metering.settleAtOnce';
      if (!answer) {
        return writer.replace(record.requestId, atOnce, row) ?? writer.write('metering.settle', row);
      }
      const kept = (settle: KeptSettlement['settle']): KeptSettlement => ({ settle, row, answer });
      return (
        writer.replace(record.requestId, 'metering.settleKept', kept(atOnce)) ??
        writer.write('metering.settleKept', kept('metering.settle'), laneFor(answer))
      );
    },
    usage: async (requestId) => {
      const row = orm.select().from(usage).where(eq(usage.requestId, requestId)).get();
      return row && usageRecord(row);
    },
    spendOfKey: async (keyId, at) => {
      const day = utcDay(at);
      return spend.get({ keyId, day, month: day.slice(0, 7) }) ?? { total: 0, day: 0, month: 0 };
    },
    served: () => reader.ask('served'),
    summarize: (filter) => reader.ask('summarize', filter),
    leftHolds: async (before) =>
      orm
        .select()
        .from(holds)
        .where(lt(holds.createdAt, before))
        .orderBy(holds.createdAt)
        .all()
        .map(leftHold),
    checkSums: () => reader.ask('sums'),
  };
}

/** The money of other calls does not wait for a long answer. */
function laneFor({ body: { length } }: PlacedAnswer): WriteOptions {
  return length > answerWithMoneyBytesMax ? { lane: 'bulk', bytes: length } : {};
}

export function usageRecord(row: typeof usage.$inferSelect): UsageRecord {
  const { input, cachedInput, cacheWrite, output, reasoning, costProvider, costMargin, attempts, ...rest } =
    row;
  const { trace, ...same } = rest;
  return {
    ...same,
    tokens: { input, cachedInput, cacheWrite, output, reasoning },
    cost:
      costProvider === null || costMargin === null
        ? null
        : { provider: costProvider, margin: costMargin, total: costProvider + costMargin },
    attempts: JSON.parse(attempts) as Attempt[],
    ...(trace !== null && { trace }),
  };
}

function leftHold(row: typeof holds.$inferSelect): LeftHold {
  const {
    progressInput,
    progressCachedInput,
    progressCacheWrite,
    progressOutput,
    progressReasoning,
    ...rest
  } = row;
  const { promptInput, promptCachedInput, promptCacheWrite, promptOutput, promptReasoning, ...same } = rest;
  return {
    ...same,
    promptEstimate: {
      input: promptInput,
      cachedInput: promptCachedInput,
      cacheWrite: promptCacheWrite,
      output: promptOutput,
      reasoning: promptReasoning,
    },
    progressTokens:
      progressInput === null
        ? null
        : {
            input: progressInput,
            cachedInput: progressCachedInput ?? 0,
            cacheWrite: progressCacheWrite ?? 0,
            output: progressOutput ?? 0,
            reasoning: progressReasoning ?? 0,
          },
  };
}
