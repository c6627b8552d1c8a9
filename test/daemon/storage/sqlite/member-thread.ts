import { parentPort, workerData } from 'node:worker_threads';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { MemberChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import { aHold, aSettlement } from '../../../storage/records.ts';

/** Settles calls through the writer of the test's thread, many at the same time, and posts how many were. */
const { file, port, name, calls } = workerData;
const storage = openSqliteMember({ file, port, changes: new MemberChanges(async () => {}), settledEvent });
const settled = await Promise.all(
  Array.from({ length: calls }, async (_, index) => {
    const requestId = `req_${name}_${index}`;
    await storage.metering.hold(aHold(requestId));
    return await storage.metering.settle(aSettlement(requestId));
  }),
);
await storage.close();
parentPort?.postMessage(settled);
