import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { engineLibrary } from '../../src/shared/constants/engine-library.ts';

/** Where CI installs the engine's library: `GATEWAY_HOME=.engine npx gateway engine install`. */
const installed = join(import.meta.dirname, '../../.engine', engineLibrary.folder);

/** Whether tests can run real models. Without the library, they are skipped and say why. */
export const hasEngineLibrary = existsSync(join(installed, 'node_modules', engineLibrary.name));

export const engineSkipReason = hasEngineLibrary
  ? ''
  : ' (skipped: the library is not installed; run GATEWAY_HOME=.engine npx gateway engine install)';

/** Makes the library available to a daemon with this data folder. */
export async function linkEngineLibrary(home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  await symlink(installed, join(home, engineLibrary.folder), 'dir');
}
