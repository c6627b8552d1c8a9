import { readFile } from 'node:fs/promises';
import type { ConfigFault, ConfigPlace, ConfigTools } from '../../shared/daemon-module.ts';
import { foldersOf } from '../../shared/folders.ts';
import { ConfigInvalid, loadConfig } from './config.ts';
import { explainSettings } from './explain.ts';
import { schemaDocument } from './schema-document.ts';

/** Configuration operations that need no running daemon. */
export const configTools: Omit<ConfigTools, 'set' | 'warnings'> = {
  path: ({ file, ...surroundings }) => file ?? usualFile(surroundings),

  /** The configuration a daemon would read now, without flags. */
  async explain(place) {
    const { file, env } = place;
    const path = configTools.path(place);
    const faults = await faultsOf(place);
    if (faults.length > 0) return { settings: [], faults };
    const text = await textOf(path);
    return { settings: explainSettings({ flags: { configFile: file }, env, text, path }), faults };
  },

  schema: schemaDocument,
};

function usualFile(surroundings: Omit<ConfigPlace, 'file'>): string {
  return `${foldersOf(surroundings).config}/config.yaml`;
}

async function faultsOf({ file, ...surroundings }: ConfigPlace): Promise<ConfigFault[]> {
  try {
    await loadConfig({ flags: { configFile: file }, ...surroundings });
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.faults;
    throw error;
  }
}

/** Empty without a file. */
export async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  });
}
