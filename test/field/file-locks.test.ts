import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/**
 * The locks that SQLite holds on its files are of the process: whatever closes one of them in the same process releases all, and
 * another program that closes the database then believes to be the last, and deletes the write-ahead log.
 */

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon({});
});
afterAll(() => daemon.stop());

/** The bytes of the shared memory that transactions lock while they run: `UNIX_SHM_BASE` and the seven after it in SQLite's os_unix.c. */
const ofTransactions = /^12[0-7]-12[0-7]$/;

/** What this process holds of a file, also between transactions. Source: proc(5), `/proc/locks`. */
async function locksOf(name: string): Promise<string[]> {
  const { ino } = await stat(join(daemon.home, name));
  const lines = (await readFile('/proc/locks', 'utf8')).split('\n').map((line) => line.split(/ +/));
  // The kernel may list one twice while others come and go.
  const held = lines
    .filter((words) => words.includes(String(process.pid)) && words.some((word) => word.endsWith(`:${ino}`)))
    .map((words) => words.slice(-2).join('-'))
    .filter((range) => !ofTransactions.test(range));
  return [...new Set(held)].sort();
}

// NousResearch/hermes-agent#71724, NousResearch/hermes-agent#100519, ohdearquant/khive#2398, MemPalace/mempalace#2471,
// openclaw/openclaw#127855, jellyfin/jellyfin#18100, get-bb/bb#2190
describe.skipIf(process.platform !== 'linux')(
  'the locks of the database (skipped without /proc/locks)',
  () => {
    test.each([
      ['a backup', ['backup', 'copy.bak']],
      ['a backup with content', ['backup', 'whole.bak', '--with-content']],
      ['a diagnosis', ['doctor', '--offline']],
      ['a reload', ['reload']],
      ['a check of the ledger', ['ledger', 'verify']],
      ['a restore, which is refused', ['restore', 'copy.bak', '--yes']],
      ['a look at the content of calls', ['capture', 'status']],
    ])('are held after %s', async (_what, words) => {
      const files = ['gateway.db', 'gateway.db-shm', 'daemon.lock'];
      const before = await Promise.all(files.map(locksOf));
      for (const held of before) expect(held).not.toEqual([]);
      const placed = words.map((word) => (word.endsWith('.bak') ? join(daemon.home, word) : word));
      const { code } = await runCli(placed, { env: { GATEWAY_HOME: daemon.home } });
      expect(code).toBe(words[0] === 'restore' ? 1 : 0);
      expect(await Promise.all(files.map(locksOf))).toEqual(before);
    });
  },
);
