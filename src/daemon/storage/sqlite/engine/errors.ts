import Database from 'better-sqlite3';

/** Another daemon uses this data folder. */
export class DataFolderInUse extends Error {
  readonly folder: string;

  constructor(folder: string) {
    super(`Another daemon is using the data folder ${folder}. Stop it first, or choose another folder.`);
    this.name = 'DataFolderInUse';
    this.folder = folder;
  }
}

/** The schema of the database is newer or older than this program supports. Nothing was changed. */
export class UnsupportedSchema extends Error {
  /** `elsewhere`: how to use another database. */
  constructor(
    file: string,
    { found, oldest, newest }: { found: number; oldest: number; newest: number },
    elsewhere = 'choose another folder with GATEWAY_HOME or --data',
  ) {
    const remedy =
      found > newest
        ? 'Start the newer version again, or restore a backup made before it ran.'
        : `It was written by a development version; ${elsewhere}.`;
    const supported = oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`;
    super(`${file} has schema version ${found}; this version of Gateway supports ${supported}. ${remedy}`);
    this.name = 'UnsupportedSchema';
  }
}

/** The database is damaged or inconsistent. Nothing was changed. */
export class DataNeedsRepair extends Error {
  /** The problem, without the file name. */
  readonly problem: string;

  constructor(
    file: string,
    problem: string,
    {
      remedy = 'Keep a copy of the whole folder, then restore the newest backup or recover with `sqlite3 FILE .recover`.',
      ...options
    }: { cause?: unknown; remedy?: string } = {},
  ) {
    super(`${file} needs repair: ${problem}. Nothing was changed. ${remedy}`, options);
    this.name = 'DataNeedsRepair';
    this.problem = problem;
  }
}

/** A file of the data folder is not what it must be. Nothing was changed. */
export class DataFileUnusable extends Error {
  /** `problem` and `remedy` are sentences, the first without its subject and full stop. */
  constructor(
    path: string,
    problem: string,
    remedy = 'Move it away and start again.',
    options?: ErrorOptions,
  ) {
    super(`${path} ${problem}.\n${remedy}`, options);
    this.name = 'DataFileUnusable';
  }
}

/** The file system cannot store data durably. Nothing was changed. */
export class DiskUnsuited extends Error {
  constructor(file: string, problem: string) {
    super(
      `${file} cannot be stored durably here: ${problem}. ` +
        'Network and read-only file systems are not supported. ' +
        'Choose another folder with GATEWAY_HOME or --data.',
    );
    this.name = 'DiskUnsuited';
  }
}

/** The database is no longer at its path, so further writes would be lost. */
export class DataMoved extends Error {
  constructor(file: string) {
    super(`${file} was moved, replaced or deleted while the daemon was using it.`);
    this.name = 'DataMoved';
  }
}

/** The database cannot be used now, which its operator can change. `message` is a sentence with the remedy. */
export class DatabaseUnusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseUnusable';
  }
}

/** A copy to the database was begun and is not complete. Nothing was changed. */
export class UnfinishedCopy extends Error {
  constructor(name: string) {
    super(
      `${name} is an unfinished copy. Run the same gateway storage copy again, which completes it, or remove it to begin again.`,
    );
    this.name = 'UnfinishedCopy';
  }
}

/** The server cannot hold the data of Gateway. */
export class UnsupportedServer extends Error {
  constructor(problem: string) {
    super(`${problem} Gateway needs PostgreSQL 15 or later.`);
    this.name = 'UnsupportedServer';
  }
}

/** A backup cannot be restored; nothing was changed. */
export class BackupUnusable extends Error {
  constructor(file: string, problem: string, options?: { cause?: unknown }) {
    super(`${file} cannot be restored: ${problem}. Nothing was changed.`, options);
    this.name = 'BackupUnusable';
  }
}

/** The SQLite error code, like `SQLITE_IOERR_FSYNC`; undefined for other errors. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}

/** Whether SQLite reports a damaged file or one that is not a database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error) ?? '';
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}
