import { databaseUrlProblem } from '../../shared/storage/database-url.ts';
import type { Clock } from '../base/world.ts';
import { type Config, ConfigInvalid } from '../config/config.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { requireFile } from '../storage/sqlite/guard/file-kind.ts';
import { lockFolder } from '../storage/sqlite/guard/folder-lock.ts';
import { openSqliteStorage, type SqliteOptions } from '../storage/sqlite/open.ts';
import { endUnusedWriter } from '../storage/sqlite/start-thread.ts';
import type { Storage } from '../storage/storage.ts';
import { readSecretFile } from './data-folder.ts';

/** Opens the configured database. Rejects as the engines do, or with `DataFolderInUse`, or with `ConfigInvalid` or `FolderUnsafe` for the file with the address. */
export async function openStorage(
  { database, dataFolder }: Pick<Config, 'database' | 'dataFolder'>,
  {
    sleep,
    ...options
  }: Pick<SqliteOptions, 'now' | 'elapsed' | 'log' | 'settledEvent' | 'changes' | 'writerThread'> &
    Pick<Clock, 'sleep'>,
): Promise<Storage> {
  if (database === undefined) return openSqliteStorage({ folder: dataFolder, ...options });
  if (options.writerThread) endUnusedWriter(options.writerThread);
  const url = await databaseUrl(database);
  const urlFile = 'urlFile' in database ? database.urlFile : undefined;
  // Loaded only where it is used.
  const { openPostgresStorage } = await import('../storage/postgres/open.ts');
  // The folder still has what is not in the database, such as the content of calls.
  const lock = lockFolder(dataFolder);
  try {
    const storage = await openPostgresStorage({ url, urlFile, folder: dataFolder, sleep, ...options });
    const close = async (): Promise<void> => {
      await storage.close();
      lock.release();
    };
    return { ...storage, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The address of a configured database. Rejects with `ConfigInvalid` or `FolderUnsafe`. */
export async function databaseUrl(database: DatabaseConfig): Promise<string> {
  if ('url' in database) return database.url;
  const { setting: place, urlFile } = database;
  requireFile(urlFile);
  const url = await readSecretFile(urlFile);
  if (url === undefined) throw new ConfigInvalid([{ place, message: `There is no file ${urlFile}.` }]);
  const problem = databaseUrlProblem(url);
  if (problem === undefined) return url;
  throw new ConfigInvalid([{ place, message: `The content of ${urlFile} ${problem}.` }]);
}
