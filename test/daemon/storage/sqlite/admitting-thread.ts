import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import {
  BudgetRules,
  createAdmission,
  settledEvent,
} from '../../../../src/daemon/features/metering/index.ts';
import { MemberChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import { aHold, aSettlement } from '../../../storage/records.ts';

/** What the test asks of a thread: calls at the same time, all of which are held, and settled if they cost something. */
export interface Order {
  calls: number;
  policy: KeyPolicy;
  amount: number;
  charged: number | undefined;
}

const { file, port, name, now } = workerData;
const storage = openSqliteMember({ file, port, changes: new MemberChanges(async () => {}), settledEvent });
const admission = createAdmission({
  store: storage.metering,
  ledger: storage.ledger,
  state: storage.state,
  clock: { now: () => now, sleep: () => setImmediate() },
  rules: new BudgetRules(),
});
let count = 0;

async function call({ policy, amount, charged }: Order): Promise<string> {
  count += 1;
  const record = aHold(`req_${name}_${count}`, { keyId: policy.keyId, amount, createdAt: now });
  const terms = { policy, isPrepaid: false, fit: () => undefined };
  try {
    const hold = await admission.hold(record, terms);
    await hold.committed;
    if (charged !== undefined) {
      const usage = { keyId: policy.keyId, charged, completedAt: now };
      await admission.settle(hold, aSettlement(record.requestId, usage));
    }
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

parentPort?.on('message', async (order: Order | 'end') => {
  if (order === 'end') {
    await storage.close();
    parentPort?.close();
  } else {
    parentPort?.postMessage(await Promise.all(Array.from({ length: order.calls }, () => call(order))));
  }
});
parentPort?.postMessage('ready');
