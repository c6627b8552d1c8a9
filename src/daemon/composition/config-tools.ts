import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import type { ConfigFault, ConfigLocation, ConfigTools } from '../../shared/daemon-module.ts';
import { idMaker } from '../../shared/ids.ts';
import { localServerNames } from '../../shared/known-providers.ts';
import { ConfigInvalid, loadConfig } from '../config/config.ts';
import { setValue } from '../config/set-value.ts';
import { configTools as fileTools } from '../config/tools.ts';
import { Catalog, unknownModels } from '../features/catalog/index.ts';
import { worldOfProcess } from '../process/world-of-process.ts';
import { configuredProviders } from '../upstream/providers-from-config.ts';

/** What commands do with the configuration without asking a daemon. */
export const configTools: ConfigTools = {
  ...fileTools,

  set: (location, { name, value, isKnownModel }) =>
    setValue(fileTools.path(location), { name, value }, async (text) => {
      if (isKnownModel === undefined) return [];
      const faults: ConfigFault[] = [];
      for (const { mayBeListed, ...warning } of await unknownModelsOf(location, text)) {
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
    const found = (await unknownModelsOf(location)).filter(({ mayBeListed }) => !mayBeListed);
    const removed = (await configAt(location))?.live.removedSettings ?? [];
    return [...removed, ...found.map(({ mayBeListed: _, ...warning }) => warning)];
  },
};

interface UnknownModel extends ConfigWarning {
  model: string;
  /** Whether it may belong to a provider whose models are not known here: a local server, or an upstream that forwards any name. */
  mayBeListed: boolean;
}

/** The configuration of the file, or of the text in its place; undefined if the environment keeps a daemon from starting. */
async function configAt({ file, ...environment }: ConfigLocation, text?: string) {
  return await loadConfig({ flags: { configFile: file }, ...environment, text }).catch((error) => {
    if (error instanceof ConfigInvalid) return undefined;
    throw error;
  });
}

/** Its unknown models. */
async function unknownModelsOf(location: ConfigLocation, text?: string): Promise<UnknownModel[]> {
  const config = await configAt(location, text);
  if (config === undefined) return [];
  const world = worldOfProcess(() => Promise.reject(new Error('nothing is sent')));
  const makeId = idMaker(world.now, world.randomBytes);
  const providers = (await configuredProviders(config, { world, makeId })).map((one) => one.description);
  const catalog = new Catalog({ world, providers, ...config.live });
  const unlisted = [
    ...providers.filter(({ models }) => models === '*').map(({ name }) => name),
    ...(config.findsLocalServers ? localServerNames : []),
  ];
  const mayBeListed = (model: string) =>
    model.includes('/') ? unlisted.some((name) => model.startsWith(`${name}/`)) : unlisted.length > 0;
  const warnings = await unknownModels(catalog, config.live);
  return warnings.map((warning) => ({ ...warning, mayBeListed: mayBeListed(warning.model) }));
}
