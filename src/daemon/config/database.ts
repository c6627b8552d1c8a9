import type { ConfigFault } from '../../shared/daemon-module.ts';
import { databaseUrlProblem, databaseUrlVariable, hasPassword } from '../../shared/storage/database-url.ts';
import type { SchemaFault } from '../yaml/schema-faults.ts';
import type { Environment, Values } from './settings/setting.ts';
import type { storageSettings } from './settings/storage.ts';
import type { ConfigFile } from './settings/table.ts';

/** A PostgreSQL database, by its address or by the file with it. `setting` is where that was found. */
export type DatabaseConfig = { setting: string } & ({ url: string } | { urlFile: string });

/** The database of the environment, or else of the file; undefined for SQLite. */
export function databaseOf(
  { storage: { url, url_file: urlFile } }: Values<typeof storageSettings>,
  env: Environment,
  faults: ConfigFault[],
): DatabaseConfig | undefined {
  const given = env[databaseUrlVariable]?.trim();
  if (given) {
    const problem = databaseUrlProblem(given);
    if (problem !== undefined) faults.push({ place: databaseUrlVariable, message: `This ${problem}.` });
    return { setting: databaseUrlVariable, url: given };
  }
  if (urlFile !== undefined) return { setting: 'storage.url_file', urlFile };
  return url === undefined ? undefined : { setting: 'storage.url', url };
}

/** The file is shown, copied and backed up: a password does not belong in it. */
export function databaseFaults({ storage: { url } = {} }: ConfigFile): SchemaFault[] {
  if (url === undefined) return [];
  const problem = hasPassword(url)
    ? `must not contain a password: write the address to a file and name that in storage.url_file, or set ${databaseUrlVariable}`
    : databaseUrlProblem(url);
  if (problem === undefined) return [];
  return [{ path: ['storage', 'url'], isKey: false, message: `\`storage.url\` ${problem}` }];
}
