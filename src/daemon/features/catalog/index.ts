export { Catalog } from './catalog.ts';
export { defaultModel } from './default-model.ts';
export { pricesFromDecimals } from './exact-price.ts';
export { catalogHandlers } from './handlers.ts';
export { type ListedModel, modelListings } from './listing.ts';
export { type LiveReader, LiveSpeed } from './live-speed.ts';
export type { ModelKind } from './model-traits.ts';
export type { Offer, ProviderDescription, Resolution } from './offer.ts';
export { unknownModels } from './unknown-models.ts';
