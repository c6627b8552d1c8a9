import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIfMissing } from '../../src/daemon/storage/sqlite/engine/database-file.ts';
import { newestSchema } from '../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';

let empty: Buffer | undefined;

/** Puts an empty database into a data folder: a copy, as creating one takes as long as the rest of a start. */
export function addEmptyDatabase(folder: string): void {
  empty ??= createEmpty();
  writeFileSync(join(folder, 'gateway.db'), empty, { mode: 0o600 });
}

function createEmpty(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-empty-'));
  const file = join(folder, 'gateway.db');
  createIfMissing(file, newestSchema, Date.now());
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}
