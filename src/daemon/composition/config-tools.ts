import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import type { ConfigFault, ConfigPlace, ConfigTools } from '../../shared/daemon-module.ts';
import { idMaker } from '../../shared/ids.ts';
import { ConfigInvalid, loadConfig } from '../config/config.ts';
import { setValue } from '../config/set-value.ts';
import { configTools as fileTools } from '../config/tools.ts';
import { Catalog, unknownModels } from '../features/catalog/index.ts';
import { worldOfProcess } from '../process/world-of-process.ts';
import { localServerNames } from '../upstream/local-servers.ts';
import { configuredProviders } from './providers-from-config.ts';

/** What commands do with the configuration without asking a daemon. */
export const configTools: ConfigTools = {
  ...fileTools,

  set: (place, { name, value, isKnownModel }) =>
    setValue(fileTools.path(place), { name, value }, async (text) => {
      if (isKnownModel === undefined) return [];
      const faults: ConfigFault[] = [];
      for (const warning of await warningsOf(place, text)) {
        const isOfChange = warning.setting === name || warning.setting.startsWith(`${name}.`);
        if (!isOfChange || (await isKnownModel(warning.model))) continue;
        faults.push({
          place: warning.setting,
          message: `${warning.message} To set it all the same, add --force.`,
        });
      }
      return faults;
    }),

  warnings: (place) => warningsOf(place),
};

/**
 * Warnings about models of the file, or of the text in its place; none if the environment keeps a daemon from starting.
 * Names pass that may belong to a provider whose models are not known here: local servers, and upstreams that forward any
 * name.
 */
async function warningsOf({ file, ...place }: ConfigPlace, text?: string): Promise<ConfigWarning[]> {
  const config = await loadConfig({ flags: { configFile: file }, ...place, text }).catch((error) => {
    if (error instanceof ConfigInvalid) return undefined;
    throw error;
  });
  if (config === undefined) return [];
  const world = worldOfProcess(() => Promise.reject(new Error('nothing is sent')));
  const makeId = idMaker(world.now, world.randomBytes);
  const providers = (await configuredProviders(config, { world, makeId })).map((one) => one.description);
  const catalog = new Catalog({ world, providers, aliases: config.aliases, fallbacks: config.fallbacks });
  const unlisted = [
    ...providers.filter(({ models }) => models === '*').map(({ name }) => name),
    ...(config.findsLocalServers ? localServerNames : []),
  ];
  const mayBeListed = (model: string) =>
    model.includes('/') ? unlisted.some((name) => model.startsWith(`${name}/`)) : unlisted.length > 0;
  return (await unknownModels(catalog, config)).filter(({ model }) => !mayBeListed(model));
}
