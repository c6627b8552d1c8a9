import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { engineLibrary } from '../../../shared/engine-library.ts';

/**
 * The main module of node-llama-cpp as a file URL: the one installed for the data folder, else the one installed alongside
 * this program. Undefined if there is none.
 */
export function findLibrary(dataFolder: string): string | undefined {
  const installed = join(
    dataFolder,
    engineLibrary.folder,
    'node_modules',
    engineLibrary.name,
    'package.json',
  );
  return mainOf(installed) ?? mainOf(besideThisProgram());
}

function besideThisProgram(): string | undefined {
  try {
    return findPackageJSON(engineLibrary.name, import.meta.url);
  } catch {
    return undefined;
  }
}

function mainOf(packageFile: string | undefined): string | undefined {
  if (packageFile === undefined) return undefined;
  try {
    const { main } = JSON.parse(readFileSync(packageFile, 'utf8')) as { main: string };
    return pathToFileURL(join(packageFile, '..', main)).href;
  } catch {
    return undefined;
  }
}
