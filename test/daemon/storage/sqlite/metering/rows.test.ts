import { expect, test } from 'vitest';
import type { CallTrace, Settlement } from '../../../../../src/daemon/features/metering/store.ts';
import {
  receivedOperations,
  sentOperations,
} from '../../../../../src/daemon/storage/sqlite/engine/write-queue.ts';
import {
  holdFormat,
  progressFormat,
  settlementRow,
} from '../../../../../src/daemon/storage/sqlite/metering/rows.ts';
import { noLabels } from '../../../../../src/shared/constants/call-labels.ts';
import { aHold, aSettlement, tokens } from '../../../../storage/records.ts';

const trace: CallTrace = {
  admittedMs: 0.1,
  heldMs: null,
  startedMs: [0.1],
  finishReason: null,
  routes: [{ provider: 'openai', model: 'openai/gpt-5' }],
};
const failed = { provider: 'openai', model: 'openai/gpt-5', status: 0, errorCode: 'provider_error', ms: 3 };
const labels = { ...noLabels, client: 'curl/8.9', tags: { team: 'ä"\u2028' } };

const settlements: Settlement[] = [
  aSettlement('req_1'),
  aSettlement('req_2', { trace }),
  aSettlement('req_3', { trace: { ...trace, captured: 'disk' } }),
  aSettlement('req_4', { trace: { ...trace, dropped: [{ param: 'top_k' }], finishReason: 'stop' } }),
  aSettlement('req_5', { attempts: [failed, { ...failed, message: 'no route\nto host' }], labels }),
  aSettlement('req_6', { cost: null, ttftMs: null, provider: null, budget: 'bud_1', attempts: [] }),
  { ...aSettlement('req_7'), held: { amount: 5000 } },
  { ...aSettlement('req_8'), held: { amount: 0, free: Number.MAX_SAFE_INTEGER }, tier: 'free' },
];

test('the rows of calls reach the writer thread unchanged', () => {
  const progress = { requestId: 'req_1', tokens, cost: 7, provider: null };
  const operations = [
    ...settlements.map((settlement) => ['metering.settle', settlementRow(settlement)] as const),
    ['metering.hold', holdFormat.row(aHold('req_1', { labels, free: 3 }))] as const,
    ['metering.progress', progressFormat.row(progress as never)] as const,
  ];
  expect(receivedOperations(sentOperations(operations, true))).toStrictEqual(operations);
});
