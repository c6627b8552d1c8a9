import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFiles } from '../../shared/folders.ts';
import type { Config } from '../config/config.ts';
import type { BackupFile } from '../features/backups/index.ts';

/** The name of the configuration in a backup. */
export const configName = 'config.yaml';

/**
 * The files that belong in a backup alongside the database: the key that seals reasoning, the providers' model lists and
 * the configuration. Logins and keys are left out: the database has them, and the owner's file is created again.
 */
export async function backupFiles({ dataFolder, configFile }: Pick<Config, 'dataFolder' | 'configFile'>) {
  const paths: [name: string, path: string][] = [
    [dataFiles.dataKey, join(dataFolder, dataFiles.dataKey)],
    [dataFiles.listings, join(dataFolder, dataFiles.listings)],
    [configName, configFile],
  ];
  const files = paths.map(async ([name, path]): Promise<BackupFile[]> => {
    const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return content === undefined ? [] : [{ name, content }];
  });
  return (await Promise.all(files)).flat();
}
