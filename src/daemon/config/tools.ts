import type { ConfigLocation, ConfigTools } from '../../shared/daemon-module.ts';
import { foldersOf } from '../../shared/folders.ts';
import { FileUnreadable } from '../runtime/read-named-file.ts';
import { ConfigInvalid, loadConfig } from './config.ts';
import { explainSettings } from './explain.ts';
import { importLiteLlm } from './import-litellm.ts';
import { readConfigFile, readConfigText } from './read-config-file.ts';
import { schemaDocument } from './schema-document.ts';
import { secretVariables } from './secret-files.ts';

/** Configuration operations that need no running daemon. */
export const configTools: Omit<ConfigTools, 'set' | 'warnings'> = {
  path: ({ file, ...environment }) => file ?? defaultFile(environment),

  /** The configuration a daemon would read now, without flags. */
  async explain(location) {
    const { file, ...environment } = location;
    const flags = { configFile: file };
    try {
      const { configText: text } = await loadConfig({ flags, ...environment });
      const path = configTools.path(location);
      return { settings: explainSettings({ flags, env: environment.env, text, path }), faults: [] };
    } catch (error) {
      if (error instanceof ConfigInvalid) return { settings: [], faults: error.faults };
      throw error;
    }
  },

  async secretVariables(location) {
    const { file } = await readConfigFile(configTools.path(location), { required: false });
    return [...secretVariables(file)];
  },

  schema: schemaDocument,

  importLiteLlm,
};

function defaultFile(environment: Omit<ConfigLocation, 'file'>): string {
  return `${foldersOf(environment).config}/config.yaml`;
}

/** Empty without a file. */
export async function textOf(path: string): Promise<string> {
  return await readConfigText(path).catch((error: unknown) => {
    if (error instanceof FileUnreadable && error.isAbsent) return '';
    throw error;
  });
}
