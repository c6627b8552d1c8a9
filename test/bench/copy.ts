/**
 * Measures `gateway storage copy` in both directions, with a database of finished calls and a PostgreSQL server of its own:
 * `npm run bench -- copy [CALLS]`, after `npm run build`.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyStorage } from '../../src/daemon/process/copy-storage.ts';
import { startPostgres } from '../support/postgres.ts';
import { databaseFile, fill, prepare } from './grown-data.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'gateway-copy-'));
const back = mkdtempSync(join(tmpdir(), 'gateway-copy-'));
const server = await startPostgres({ isDurable: true });
try {
  await prepare(folder);
  fill(folder, { rows, keys: 1_000, activeKeys: 100, days: 90, labelled: 0.3 });
  const megabytes = Math.round(statSync(join(folder, databaseFile)).size / 1e6);
  process.stdout.write(`${rows} calls, ${megabytes} MB\n`);
  const url = await server.newDatabase();
  await measure('to PostgreSQL', folder, url);
  await measure('to SQLite', url, back);
} finally {
  await server.stop();
  for (const path of [folder, back]) rmSync(path, { recursive: true, force: true });
}

async function measure(name: string, from: string, to: string): Promise<void> {
  const startedAt = performance.now();
  let comparedAt = 0;
  let peak = 0;
  const outcome = await copyStorage({
    from,
    to,
    env: process.env,
    onProgress({ step }) {
      if (step === 'comparing' && comparedAt === 0) comparedAt = performance.now();
      peak = Math.max(peak, process.memoryUsage().rss);
    },
  });
  if ('problem' in outcome) throw new Error(outcome.problem);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const [copied, checked] = [comparedAt - startedAt, performance.now() - comparedAt];
  process.stdout.write(
    `${name}: ${outcome.rows} rows in ${seconds(copied + checked)} s (copied ${seconds(copied)} s, verified ${seconds(checked)} s), \
at most ${Math.round(peak / 1e6)} MB of memory, sha256 ${outcome.digest}\n`,
  );
}
