export { Catalog, type CatalogSettings, defaultModel } from './catalog.ts';
export { freePrices, nanoFromDecimal, pricesFromDecimals, type WrittenPrices } from './exact-price.ts';
export { catalogHandlers } from './handlers.ts';
export { type ListedModel, type ListingProvider, modelListings } from './listing.ts';
export { type LiveNumbers, type LiveReader, LiveSpeed } from './live-speed.ts';
export { type Capabilities, type Modality, unknownCapabilities } from './model-traits.ts';
export type { ModelDetails, Offer, ProviderDescription, ProviderKind, Resolution } from './offer.ts';
export { loadPriceLibrary, type PriceLibrary } from './price-library.ts';
