import { createHash } from 'node:crypto';

/**
 * What an alias stands for: a model; models in the order in which to try them; or models with the weights by which calls
 * are distributed among them, each followed by the others if it fails.
 */
export type AliasTarget = string | readonly string[] | Readonly<Record<string, number>>;

/** The same with other names of models. */
export function mapTarget(target: AliasTarget, nameOf: (model: string) => string): AliasTarget {
  if (typeof target === 'string') return nameOf(target);
  if (isList(target)) return target.map(nameOf);
  return Object.fromEntries(Object.entries(target).map(([model, weight]) => [nameOf(model), weight]));
}

/** The models of an alias, as they are configured. */
export function modelsOf(target: AliasTarget): readonly string[] {
  if (typeof target === 'string') return [target];
  return isList(target) ? target : Object.keys(target);
}

/**
 * The models of an alias in the order in which to try them. With weights, the text decides: the same text gives the same
 * order, and of many different texts each model is first for its share. If a model is removed or added, only the texts that
 * it was or is now first for move, so that conversations keep their prompt caches.
 */
export function modelsInOrder(target: AliasTarget, text: string): readonly string[] {
  if (typeof target === 'string' || isList(target)) return modelsOf(target);
  // Weighted rendezvous hashing.
  return Object.entries(target)
    .map(([model, weight]) => ({ model, score: -Math.log(fraction(`${model}\n${text}`)) / weight }))
    .sort((a, b) => a.score - b.score)
    .map(({ model }) => model);
}

function isList(target: AliasTarget): target is readonly string[] {
  return Array.isArray(target);
}

/** A number between 0 and 1, both excluded, that looks random and depends only on the text. */
function fraction(text: string): number {
  return (createHash('sha256').update(text).digest().readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
