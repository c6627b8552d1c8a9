import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { exitCodes } from '../../shared/errors.ts';
import { contentFile, dataFiles } from '../../shared/folders.ts';
import type { CopyStorageOptions, CopyStorageOutcome } from '../../shared/storage/copy-storage.ts';
import { databaseUrlProblem, hasPassword, withoutPassword } from '../../shared/storage/database-url.ts';
import { loadConfig } from '../config/config.ts';
import { CopyDamaged, copyDatabase } from '../storage/postgres/copy/copy-database.ts';
import { CopyRefused } from '../storage/postgres/copy/copy-refused.ts';
import type { CopySide, CopyTarget } from '../storage/postgres/copy/copy-side.ts';
import { openPostgresSource, openPostgresTarget } from '../storage/postgres/copy/postgres-side.ts';
import { openSqliteSource, openSqliteTarget } from '../storage/postgres/copy/sqlite-side.ts';
import { explainServer } from '../storage/postgres/explain-server.ts';
import { backupsFolder } from '../storage/sqlite/backups/store.ts';
import { migrations } from '../storage/sqlite/engine/migrations/index.ts';
import { lockFolder } from '../storage/sqlite/guard/folder-lock.ts';
import { prepareDataFolder, readSecretFile } from './data-folder.ts';
import { databaseUrl } from './open-storage.ts';
import { explainFailure } from './start-failures.ts';

const databaseFile = 'gateway.db';

/** A data folder or a database of a server. */
type Place = { folder: string } | { url: string };

/** Copies the database between a data folder and a PostgreSQL server, while no daemon uses either. */
export async function copyStorage(options: CopyStorageOptions): Promise<CopyStorageOutcome> {
  const { env, onProgress } = options;
  const close: (() => unknown)[] = [];
  let url = '';
  try {
    const source = options.from === undefined ? await configuredPlace(env) : await placeOf(options.from);
    const target = await placeOf(options.to);
    const [server] = [source, target].filter((place) => 'url' in place);
    if (!server || ('url' in source && 'url' in target)) throw new CopyRefused(otherWays(source));
    url = server.url;
    const from = 'url' in source ? await openServerSource(source) : openFolderSource(source, close);
    close.push(() => from.close());
    const to = 'url' in target ? await openPostgresTarget(target.url) : await openFolderTarget(target, close);
    close.push(() => to.close());
    const copied = await copyDatabase({ source: from, target: to, onProgress });
    return {
      from: nameOf(source),
      to: nameOf(target),
      schemaVersion: migrations.at(-1)?.version ?? 0,
      ...copied,
      beside: 'folder' in source ? filesBeside(source.folder) : undefined,
      lacksDataKey: 'folder' in target && !existsSync(join(target.folder, dataFiles.dataKey)),
    };
  } catch (error) {
    if (error instanceof CopyRefused || error instanceof CopyDamaged)
      return { problem: error.message, exit: exitCodes.failed };
    const { text, exit } = await explainFailure(explainServer(url, error));
    return { problem: text, exit };
  } finally {
    for (const each of close.reverse()) await each();
  }
}

async function configuredPlace(env: CopyStorageOptions['env']): Promise<Place> {
  const { database, dataFolder } = await loadConfig({
    flags: {},
    env,
    platform: process.platform,
    home: homedir(),
  });
  return database === undefined ? { folder: dataFolder } : { url: await databaseUrl(database) };
}

async function placeOf(text: string): Promise<Place> {
  if (/^postgres(ql)?:/.test(text)) {
    const problem = databaseUrlProblem(text);
    if (problem !== undefined) throw new CopyRefused(`The address ${problem}.`);
    if (!hasPassword(text)) return { url: text };
    throw new CopyRefused(
      'Other users of this machine can read arguments: write the address with its password to a file, and name that.',
    );
  }
  const path = resolve(text);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return { folder: path };
  const url = (await readSecretFile(path)) ?? '';
  const problem = databaseUrlProblem(url);
  if (problem !== undefined) throw new CopyRefused(`The content of ${path} ${problem}.`);
  return { url };
}

function otherWays(source: Place): string {
  return 'url' in source
    ? 'Both are PostgreSQL databases: copy with pg_dump and pg_restore.'
    : 'Both are data folders: copy with gateway backup and gateway restore.';
}

function openFolderSource({ folder }: { folder: string }, close: (() => unknown)[]): CopySide {
  const file = join(folder, databaseFile);
  if (!existsSync(file)) throw new CopyRefused(`There is no ${file}.`);
  close.push(lockFolder(folder).release);
  return openSqliteSource(file);
}

async function openFolderTarget(
  { folder }: { folder: string },
  close: (() => unknown)[],
): Promise<CopyTarget> {
  await prepareDataFolder(folder);
  close.push(lockFolder(folder).release);
  return openSqliteTarget(join(folder, databaseFile), Date.now());
}

function openServerSource({ url }: { url: string }): Promise<CopySide> {
  return openPostgresSource({ url, isInUse: false });
}

function nameOf(place: Place): string {
  return 'url' in place ? withoutPassword(place.url) : place.folder;
}

function filesBeside(folder: string): string[] {
  const { dataKey, engineModels } = dataFiles;
  const paths = [
    join(folder, dataKey),
    join(folder, engineModels),
    contentFile(folder),
    join(folder, backupsFolder),
  ];
  return paths.filter((path) => existsSync(path));
}
