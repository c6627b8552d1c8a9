export { Catalog } from './catalog.ts';
export { defaultModel } from './default-model.ts';
export { catalogHandlers } from './handlers.ts';
export { createModelListings, type ListedModel } from './listing.ts';
export { pricesView } from './model-entry.ts';
export type { ModelKind } from './model-traits.ts';
export type { Offer, ProviderDescription, Resolution } from './offer.ts';
export { SpeedMeter, type SpeedReader } from './speed.ts';
export { unknownModels } from './unknown-models.ts';
