import type { ConfigWarning } from '../../../shared/contract/configuration.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { type AliasTarget, modelsOf } from './alias.ts';
import { type Catalog, isWildcard } from './catalog.ts';
import { listAdvice } from './resolve-name.ts';

/** A model of the configuration that the catalog does not have. */
export type UnknownModel = ConfigWarning & { model: string };

/** Those that do not depend on what a wildcard matches. */
function namedModels(target: AliasTarget): string[] {
  return modelsOf(target).filter((model) => !isWildcard(model));
}

/** Warnings about configured model names that the catalog does not have. */
export async function unknownModels(
  catalog: Pick<Catalog, 'resolve' | 'find' | 'isKnown' | 'nearest'>,
  configured: {
    readonly defaultModel: string | undefined;
    readonly aliases: Readonly<Record<string, AliasTarget>>;
    readonly fallbacks: Readonly<Record<string, readonly string[]>>;
    /** Limits by the name of a provider, or the id of a model. */
    readonly concurrency: Readonly<Record<string, unknown>>;
  },
): Promise<UnknownModel[]> {
  const { defaultModel, aliases, fallbacks, concurrency } = configured;
  const ofLimits = Object.keys(concurrency).flatMap((model) =>
    model.includes('/')
      ? [{ setting: `concurrency.${model}`, model, find: () => catalog.resolve(model) }]
      : [],
  );
  const ofAliases = Object.entries(aliases).flatMap(([name, target]) =>
    namedModels(target).map((model) => ({
      setting: `aliases.${name}`,
      model,
      find: () => catalog.find(model),
    })),
  );
  const ofFallbacks = Object.entries(fallbacks).flatMap(([name, models]) =>
    [name, ...models].map((model) => ({
      setting: `fallbacks.${name}`,
      model,
      find: () => catalog.resolve(model),
    })),
  );
  const named = [...ofAliases, ...ofFallbacks, ...ofLimits];
  if (defaultModel !== undefined)
    named.unshift({
      setting: 'default_model',
      model: defaultModel,
      find: () => catalog.resolve(defaultModel),
    });
  const warnings: UnknownModel[] = [];
  for (const { setting, model, find } of named) {
    try {
      const found = await find();
      if (catalog.isKnown(found)) continue;
      const nearest = catalog.nearest(found.id);
      const advice = nearest.length > 0 ? ` Did you mean ${inWords(nearest)}?` : '';
      const [offer] = found.offers;
      const message = `The catalog has no model ${JSON.stringify(found.id)}; ${offer?.provider} is sent the name as it is.${advice}`;
      warnings.push({ setting, model, message });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Who edits the configuration works in a terminal.
      const message = error.message.replace(listAdvice, '`gateway models` lists the models.');
      warnings.push({ setting, model, message });
    }
  }
  return warnings;
}
