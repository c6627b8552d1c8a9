import { parentPort, workerData } from 'node:worker_threads';
import {
  BudgetRules,
  createAdmission,
  settledEvent,
} from '../../../../src/daemon/features/metering/index.ts';
import { LeasedLimits } from '../../../../src/daemon/features/metering/leased-limits.ts';
import type { ToMember } from '../../../../src/daemon/features/metering/leases/messages.ts';
import { LeaseOutbox } from '../../../../src/daemon/features/metering/leases/outbox.ts';
import type { KeyPolicy } from '../../../../src/daemon/handler.ts';
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

const { file, port, leases, name, now } = workerData;
const storage = openSqliteMember({ file, port, changes: new MemberChanges(() => {}), settledEvent });
const outbox = new LeaseOutbox((messages) => leases.postMessage(messages), setImmediate);
const limits = new LeasedLimits({
  send: outbox.send,
  clock: { now: () => now, elapsed: () => performance.now() },
  rules: new BudgetRules(),
});
leases.on('message', (message: ToMember) => limits.receive(message));
const admission = createAdmission({ store: storage.metering, state: storage.state, leases: limits });
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
    leases.close();
    parentPort?.close();
  } else {
    parentPort?.postMessage(await Promise.all(Array.from({ length: order.calls }, () => call(order))));
  }
});
parentPort?.postMessage('ready');
