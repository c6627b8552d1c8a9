import type { ConfigTools } from '../../shared/daemon-module.ts';
import { idMaker } from '../../shared/ids.ts';
import { loadConfig } from '../config/config.ts';
import { configTools as fileTools } from '../config/tools.ts';
import { Catalog, unknownModels } from '../features/catalog/index.ts';
import { worldOfProcess } from '../process/world-of-process.ts';
import { localServerNames } from '../upstream/local-servers.ts';
import { configuredProviders } from './providers-from-config.ts';

/** What commands do with the configuration without asking a daemon. */
export const configTools: ConfigTools = {
  ...fileTools,

  /** Names pass if they start with a provider whose models are not known here: local servers, and any name. */
  async warnings({ file, ...place }) {
    const config = await loadConfig({ flags: { configFile: file }, ...place });
    const world = worldOfProcess(() => Promise.reject(new Error('nothing is sent')));
    const makeId = idMaker(world.now, world.randomBytes);
    const providers = (await configuredProviders(config, { world, makeId })).map((one) => one.description);
    const catalog = new Catalog({ world, providers, aliases: config.aliases });
    const warnings = await unknownModels(catalog, config);
    const unlisted = [
      ...providers.filter(({ models }) => models === '*').map(({ name }) => name),
      ...(config.findsLocalServers ? localServerNames : []),
    ];
    return warnings.filter(({ model }) => !unlisted.some((name) => model.startsWith(`${name}/`)));
  },
};
