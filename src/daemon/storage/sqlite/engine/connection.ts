import Database from 'better-sqlite3';
import { DiskUnsuited } from './errors.ts';

export type Connection = Database.Database;

// better-sqlite3 is compiled to use synchronous=NORMAL with WAL, which can lose acknowledged commits in a power cut.
const writerPragmas = {
  journal_mode: 'wal',
  synchronous: 2,
  busy_timeout: 5000,
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  // What is deleted is overwritten: texts of calls must not stay in free pages.
  secure_delete: 1,
  wal_autocheckpoint: 1000,
  journal_size_limit: 67_108_864,
  mmap_size: 0,
  fullfsync: 1,
  checkpoint_fullfsync: 1,
} as const;

/**
 * Opens the database for writing and verifies the pragmas that durability depends on. Throws `DiskUnsuited` if one cannot
 * be set.
 */
export function openForWriting(file: string): Connection {
  const database = new Database(file, { fileMustExist: true });
  try {
    for (const [name, value] of Object.entries(writerPragmas)) database.pragma(`${name} = ${value}`);
    for (const name of ['journal_mode', 'synchronous', 'foreign_keys'] as const) {
      const found = database.pragma(name, { simple: true });
      if (found !== writerPragmas[name]) {
        throw new DiskUnsuited(file, `${name} is ${found} and cannot be set to ${writerPragmas[name]}`);
      }
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the database for reads, which see every commit made before they start. */
export function openForReading(file: string): Connection {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  for (const name of ['busy_timeout', 'trusted_schema', 'cell_size_check', 'mmap_size'] as const) {
    database.pragma(`${name} = ${writerPragmas[name]}`);
  }
  return database;
}
