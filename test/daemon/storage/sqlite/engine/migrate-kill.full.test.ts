import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { createIfMissing } from '../../../../../src/daemon/storage/sqlite/engine/database-file.ts';
import { newestSchema } from '../../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { morning } from '../../../../storage/records.ts';
import { openTemporarily, recordingLog } from '../temporary.ts';
import { slowMigrations } from './slow-migrations.ts';

/** `KILLS=100` for a night. */
const kills = Number(process.env.KILLS ?? 3);
const keyCount = 20_000;
const script = fileURLToPath(new URL('./migrate-child.ts', import.meta.url));
const { newFolder, cleanUp } = openTemporarily();
afterEach(cleanUp);

/** A database with many keys, so that migrating it takes a while. */
function createFilled(file: string): void {
  createIfMissing(file, newestSchema, Date.now());
  const database = new Database(file);
  database.exec("INSERT INTO workspaces (id, slug, name, created_at) VALUES ('ws_1', 'home', 'Home', 0)");
  const insert = database.prepare(
    `INSERT INTO keys (id, workspace_id, owner_id, name, digest, hint, scopes, created_at)
     VALUES (?, 'ws_1', 'usr_1', 'a', ?, 'h', '[]', 0)`,
  );
  database.transaction(() => {
    for (let index = 0; index < keyCount; index += 1) insert.run(`key_${index}`, `digest ${index}`);
  })();
  database.close();
}

/** Starts a migration and kills it after `ms`, or lets it finish; resolves to how long it ran, in milliseconds. */
async function migrateFor(file: string, ms: number | undefined): Promise<number> {
  const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const startedAt = performance.now();
  const timer = ms === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), ms);
  await ended;
  clearTimeout(timer);
  return performance.now() - startedAt;
}

test(`a killed migration loses nothing and is completed by the next start, ${kills} times`, {
  timeout: 300_000 + kills * 10_000,
}, async () => {
  const folder = newFolder();
  const original = join(folder, 'first.db');
  createFilled(original);
  const fresh = (name: string) => {
    mkdirSync(join(folder, name));
    const file = join(folder, name, 'gateway.db');
    copyFileSync(original, file);
    return file;
  };
  const wholeMs = await migrateFor(fresh('whole'), undefined);
  for (let round = 0; round < kills; round += 1) {
    const file = fresh(`round-${round}`);
    await migrateFor(file, (wholeMs * round) / kills);
    prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations: slowMigrations }).close();
    const database = new Database(file, { readonly: true });
    const found = {
      version: database.pragma('user_version', { simple: true }),
      keys: database.prepare('SELECT count(*) FROM keys').pluck().get(),
      integrity: database.pragma('integrity_check', { simple: true }),
    };
    database.close();
    const copies = readdirSync(join(folder, `round-${round}`, 'backups'));
    expect(copies).toEqual(copies.map(() => expect.stringMatching(/^gateway-v\d+-.*Z\.db$/)));
    expect(found).toEqual({ version: slowMigrations.at(-1)?.version, keys: keyCount, integrity: 'ok' });
  }
});
