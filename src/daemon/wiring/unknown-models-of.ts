import type { ConfigWarning } from '../../shared/contract/configuration.ts';
import { idMaker } from '../../shared/ids.ts';
import { localServerNames } from '../../shared/known-providers.ts';
import type { Config } from '../config/config.ts';
import { Catalog, unknownModels } from '../features/catalog/index.ts';
import { worldOfProcess } from '../process/world-of-process.ts';
import { configuredProviders } from '../upstream/providers-from-config.ts';

export interface UnknownModel extends ConfigWarning {
  model: string;
  /** Whether it may belong to a provider whose models are not known here: a local server, or an upstream that forwards any name. */
  mayBeListed: boolean;
}

/** The models of a configuration that are unknown to the catalog which it makes, without asking anyone. */
export async function unknownModelsOf(config: Config): Promise<UnknownModel[]> {
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
