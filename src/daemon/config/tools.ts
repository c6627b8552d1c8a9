import type { ConfigFault, ConfigLocation, ConfigTools } from '../../shared/daemon-module.ts';
import { foldersOf } from '../../shared/folders.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { ConfigInvalid, loadConfig } from './config.ts';
import { explainSettings } from './explain.ts';
import { importLiteLlm } from './import-litellm.ts';
import { readConfigText } from './read-config-file.ts';
import { schemaDocument } from './schema-document.ts';

/** Configuration operations that need no running daemon. */
export const configTools: Omit<ConfigTools, 'set' | 'warnings'> = {
  path: ({ file, ...environment }) => file ?? defaultFile(environment),

  /** The configuration a daemon would read now, without flags. */
  async explain(location) {
    const { file, env } = location;
    const path = configTools.path(location);
    const faults = await faultsOf(location);
    if (faults.length > 0) return { settings: [], faults };
    const text = await textOf(path);
    return { settings: explainSettings({ flags: { configFile: file }, env, text, path }), faults };
  },

  schema: schemaDocument,

  importLiteLlm,
};

function defaultFile(environment: Omit<ConfigLocation, 'file'>): string {
  return `${foldersOf(environment).config}/config.yaml`;
}

async function faultsOf({ file, ...environment }: ConfigLocation): Promise<ConfigFault[]> {
  try {
    await loadConfig({ flags: { configFile: file }, ...environment });
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.faults;
    throw error;
  }
}

/** Empty without a file. */
export async function textOf(path: string): Promise<string> {
  return await readConfigText(path).catch((error: unknown) => {
    if (error instanceof FileUnreadable && error.isAbsent) return '';
    throw error;
  });
}
