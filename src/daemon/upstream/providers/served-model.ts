/** Names of models as servers write them. */
const showable = /^[\w.:/@+-]{1,128}$/;

/** The model that a provider says has answered: often a dated snapshot of the one that it was asked for. */
export function servedModelIn(name: unknown): { servedModel?: string } {
  return typeof name === 'string' && showable.test(name) ? { servedModel: name } : {};
}
