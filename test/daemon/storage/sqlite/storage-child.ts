import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openSqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { aHold, aSettlement } from '../../../storage/records.ts';

/**
 * A minimal daemon for tests that kill it: `node storage-child.ts FOLDER PREFIX`. Writes holds and settles most of
 * them, concurrently, and prints `held ID` and `settled ID` when each is acknowledged.
 */
const [folder = '', prefix = ''] = process.argv.slice(2);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const storage = await openSqliteStorage({ folder, now: Date.now, log, settledEvent });
storage.onFatal((reason) => {
  const { writable } = storage.state();
  // The calls in flight fail, too.
  process.on('unhandledRejection', () => {});
  // Exiting drops the lines that a slow reader has not taken yet.
  process.stdout.write(`fatal writable=${writable} ${reason.message}\n`, () => process.exit(70));
});
say('ready');

let count = 0;
for (let lane = 0; lane < 16; lane += 1) void work(lane);

async function work(lane: number): Promise<void> {
  for (;;) {
    count += 1;
    const id = `${prefix}_${String(count).padStart(6, '0')}`;
    const held = storage.metering.hold(aHold(id, { createdAt: Date.now() })).then(() => say(`held ${id}`));
    if (lane % 2 === 0) await held;
    if (count % 5 !== 0) {
      await storage.metering.settle(aSettlement(id, { completedAt: Date.now() }));
      say(`settled ${id}`);
    }
    await held;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
