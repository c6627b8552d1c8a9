import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { dataFiles, foldersOf } from '../../shared/folders.ts';
import type { RestoreOptions, RestoreOutcome } from '../../shared/storage/restore.ts';
import { isoTime } from '../../shared/time/time.ts';
import { ConfigInvalid, loadConfig } from '../config/config.ts';
import { restoreBackup } from '../storage/sqlite/backups/restore.ts';
import { configName } from './backup-files.ts';
import { prepareDataFolder } from './data-folder.ts';
import { explainFailure } from './start-failures.ts';

/** Replaces the data with a backup, while no daemon runs. */
export async function restore({
  backup,
  dataFolder,
  env,
  onProgress,
}: RestoreOptions): Promise<RestoreOutcome> {
  try {
    const folders = foldersOf({ env, platform: process.platform, home: homedir() });
    const folder = resolve(dataFolder ?? folders.data);
    const file = resolve(backup);
    // Checked first, so that a mistyped name leaves nothing behind.
    if (dataFolder === undefined && (await usesServer(env))) {
      const problem =
        'The configuration puts the data on a PostgreSQL server: restore into another folder with --data, and copy that to an empty database with gateway storage copy.';
      return { problem, exit: 1 };
    }
    if (!statSync(file).isFile()) return { problem: `${file} is not a file.`, exit: 1 };
    await prepareDataFolder(folder);
    const fileNames = [dataFiles.dataKey, dataFiles.listings];
    const { others, madeAt, aside, ...restored } = restoreBackup({
      folder,
      backup: file,
      at: Date.now(),
      fileNames,
      onProgress,
    });
    return {
      ...restored,
      dataFolder: folder,
      madeAt: madeAt === undefined ? null : isoTime(madeAt),
      aside: aside ?? null,
      // A configuration that cannot be read does not matter to another folder.
      usesServer: dataFolder !== undefined && (await usesServer(env).catch(() => false)),
      configWritten: writeConfig(`${folders.config}/config.yaml`, others.get(configName)),
    };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { problem: `${path} does not exist.`, exit: 1 };
    const { text, exit } = await explainFailure(error);
    return { problem: text, exit };
  }
}

/** Whether the data is on a database server; not if the configuration has errors. */
async function usesServer(env: RestoreOptions['env']): Promise<boolean> {
  try {
    const { database } = await loadConfig({ flags: {}, env, platform: process.platform, home: homedir() });
    return database !== undefined;
  } catch (error) {
    if (error instanceof ConfigInvalid) return false;
    throw error;
  }
}

/** An existing configuration is kept: it may be newer. */
function writeConfig(path: string, content: Buffer | undefined): string | null {
  if (content === undefined) return null;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    throw error;
  }
}
