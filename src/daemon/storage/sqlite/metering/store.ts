import { noLabels } from '../../../../shared/constants/call-labels.ts';
import type { SlotAnswer } from '../../../features/idempotency/store.ts';
import type { AdmissionStore } from '../../../features/metering/admission/admission-store.ts';
import type { CallStatus, LeftHold, MeteringStore, UsageRecord } from '../../../features/metering/store.ts';
import type { NameTexts } from '../engine/names.ts';
import { eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import type { WriteOptions } from '../engine/write-queue.ts';
import { mapNames, readDetails, readLabelsText, readPrices, tagsOf } from './call-details.ts';
import { spendingReads } from './limits/spending.ts';
import {
  holdFormat,
  progressFormat,
  type SettlementWithAnswer,
  settlementRow,
  type WatchedSettlement,
} from './rows.ts';
import { calls, holds } from './tables.ts';
import type { MeteringReads } from './usage/reads.ts';
import type { MeteringWrites } from './writes.ts';

/** A larger answer goes to the bulk lane, together with the settlement of its call. */
const moneyLaneAnswerBytesMax = 64 * 1024;

/** Holds, settlements and usage. A settlement replaces its hold if that is still queued. */
export function meteringStore({
  database,
  orm,
  writer,
  reader,
  names,
}: StoreContext<MeteringWrites, MeteringReads>): MeteringStore & AdmissionStore {
  const { spendOfKey } = spendingReads(database);

  return {
    // A call that is not streamed waits only for its settlement; a stream waits for the hold before its first byte.
    hold: (record) =>
      writer.write('metering.hold', holdFormat.row(record), {
        replaceableAs: record.requestId,
        canLinger: !record.streamed,
      }),
    admit: (record, request) => writer.write('metering.admit', { ...request, row: holdFormat.row(record) }),
    progress: (progress) => writer.write('metering.progress', progressFormat.row(progress)),
    settle: (settlement) => {
      const { answer, usage: call } = settlement;
      const row = settlementRow(settlement);
      if (!answer) {
        return (
          writer.replace(call.requestId, 'metering.settleWithoutHold', row) ??
          writer.write('metering.settle', row)
        );
      }
      const withAnswer = (settle: SettlementWithAnswer['settle']) => ({ settle, row, answer });
      return (
        writer.replace(
          call.requestId,
          'metering.settleWithAnswer',
          withAnswer('metering.settleWithoutHold'),
        ) ?? writer.write('metering.settleWithAnswer', withAnswer('metering.settle'), laneFor(answer))
      );
    },
    settleWatched: (settlement, watched) => {
      const { answer, usage: call } = settlement;
      const row = settlementRow(settlement);
      const data = (settle: SettlementWithAnswer['settle']): WatchedSettlement => ({
        settlement: answer ? { settle, row, answer } : row,
        settle,
        watched,
        at: call.completedAt,
      });
      return (
        writer.replace(call.requestId, 'metering.settleWatched', data('metering.settleWithoutHold')) ??
        writer.write('metering.settleWatched', data('metering.settle'), answer && laneFor(answer))
      );
    },
    usage: async (requestId) => {
      const row = orm.select().from(calls).where(eq(calls.requestId, requestId)).get();
      return row && usageRecord(row, names);
    },
    spendOfKey: async (keyId, at) => spendOfKey(keyId, at),
    served: () => reader.run('served'),
    summarize: (filter) => reader.run('summarize', filter),
    usagePage: (filter) => reader.run('usagePage', filter),
    series: (filter) => reader.run('series', filter),
    latency: (filter) => reader.run('latency', filter),
    leftHolds: async (daemon) =>
      orm.select().from(holds).where(eq(holds.daemon, daemon)).orderBy(holds.createdAt).all().map(leftHold),
  };
}

/** A large answer must not delay the money of other calls. */
function laneFor({ body: { length } }: SlotAnswer): WriteOptions {
  return length > moneyLaneAnswerBytesMax ? { lane: 'bulk', bytes: length } : {};
}

export function usageRecord(row: typeof calls.$inferSelect, names: NameTexts): UsageRecord {
  const { number: _number, workspace, key, budget, endpoint, model, provider, ...columns } = row;
  const { status, errorCode, costProvider, costMargin, details, ...counts } = columns;
  const { input, cachedInput, cacheWrite, output, reasoning, ...labelled } = counts;
  const { client, endUser, conversation, tags, replayOf, prices, cache, ...same } = labelled;
  return {
    ...same,
    workspaceId: names.of(workspace),
    keyId: names.ofNullable(key),
    ...(budget !== null && { budget: names.of(budget) }),
    endpoint: names.of(endpoint),
    model: names.of(model),
    provider: names.ofNullable(provider),
    status: names.of(status) as CallStatus,
    errorCode: names.ofNullable(errorCode),
    tokens: { input, cachedInput, cacheWrite, output, reasoning },
    cost:
      costProvider === null || costMargin === null
        ? null
        : { provider: costProvider, margin: costMargin, total: costProvider + costMargin },
    labels: {
      client: names.ofNullable(client),
      user: names.ofNullable(endUser),
      conversation: names.ofNullable(conversation),
      tags: tags === null ? noLabels.tags : tagsOf(tags.map((tag) => names.of(tag))),
      replayOf: names.ofNullable(replayOf),
    },
    prices: readPrices(names.ofNullable(prices)),
    cache: names.ofNullable(cache) as UsageRecord['cache'],
    ...readDetails(mapNames(details, (name) => names.of(name))),
  };
}

function leftHold(row: typeof holds.$inferSelect): LeftHold {
  const {
    progressInput,
    progressCachedInput,
    progressCacheWrite,
    progressOutput,
    progressReasoning,
    labels,
    ...rest
  } = row;
  const { promptInput, promptCachedInput, promptCacheWrite, promptOutput, promptReasoning, ...others } = rest;
  const { budget, daemon: _daemon, free, routes, ...columns } = others;
  return {
    ...columns,
    ...(budget !== null && { budget }),
    ...(free !== null && { free }),
    ...(routes !== null && { routes: JSON.parse(routes) }),
    labels: readLabelsText(labels),
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
