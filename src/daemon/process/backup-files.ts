import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFiles } from '../../shared/folders.ts';
import type { Config } from '../config/config.ts';
import type { BackupFile } from '../features/backups/index.ts';

/** The name of the configuration in a backup, whatever its file is called. */
export const configName = 'config.yaml';

/**
 * What a backup deps beside the database: the key that seals reasoning, what providers told of their models, and the
 * configuration. Logins and keys are left out: the database knows them, and a lost file of the owner's is made anew.
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
