import type { ConfigFault, ConfigLocation, ConfigTools } from '../../shared/daemon-module.ts';
import { ConfigInvalid, loadConfig } from '../config/config.ts';
import { setValue } from '../config/set-value.ts';
import { configTools as fileTools } from '../config/tools.ts';
import { type UnknownModel, unknownModelsOf } from './unknown-models-of.ts';

/** What commands do with the configuration without asking a daemon. */
export const configTools: ConfigTools = {
  ...fileTools,

  set: (location, { name, value, isKnownModel }) =>
    setValue(fileTools.path(location), { name, value }, async (text) => {
      if (isKnownModel === undefined) return [];
      const faults: ConfigFault[] = [];
      for (const { mayBeListed, ...warning } of await unknownModelsAt(location, text)) {
        const isOfChange = warning.setting === name || warning.setting.startsWith(`${name}.`);
        if (!isOfChange || ((await isKnownModel(warning.model)) ?? mayBeListed)) continue;
        faults.push({
          place: warning.setting,
          message: `${warning.message} To set it all the same, add --force.`,
        });
      }
      return faults;
    }),

  async warnings(location) {
    const found = (await unknownModelsAt(location)).filter(({ mayBeListed }) => !mayBeListed);
    const removed = (await configAt(location))?.live.removedSettings ?? [];
    return [...removed, ...found.map(({ mayBeListed: _, ...warning }) => warning)];
  },
};

/** The configuration of the file, or of the text in its place; undefined if the environment keeps a daemon from starting. */
async function configAt({ file, ...environment }: ConfigLocation, text?: string) {
  return await loadConfig({ flags: { configFile: file }, ...environment, text }).catch((error) => {
    if (error instanceof ConfigInvalid) return undefined;
    throw error;
  });
}

/** Its unknown models. */
async function unknownModelsAt(location: ConfigLocation, text?: string): Promise<UnknownModel[]> {
  const config = await configAt(location, text);
  return config === undefined ? [] : await unknownModelsOf(config);
}
