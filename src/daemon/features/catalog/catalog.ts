import { ApiError } from '../../../shared/errors.ts';
import { ownValue } from '../../../shared/own-value.ts';
import { preferredModels } from '../../../shared/preferred-models.ts';
import type { World } from '../../world.ts';
import { buildOffer, settledPrices } from './build-offer.ts';
import { indexModels, type ModelIndex, type ModelSlot } from './model-index.ts';
import { nearestNames } from './model-names.ts';
import type { Offer, ProviderDescription, Resolution } from './offer.ts';
import { loadPriceLibrary, type PriceLibrary } from './price-library.ts';
import { resolveName } from './resolve-name.ts';

export interface CatalogSettings {
  world: Pick<World, 'now'>;
  providers: readonly ProviderDescription[];
  /** Other names for models: `{ fast: 'openai/gpt-5-mini' }`. */
  aliases?: Readonly<Record<string, string>>;
  /** Models to try after one, by its name as callers write it or its id. */
  fallbacks?: Readonly<Record<string, readonly string[]>>;
  loadPrices?: () => Promise<PriceLibrary>;
}

/** Names that are remembered; callers can make up any number of them. */
const rememberedMax = 2000;
const minuteMs = 60_000;

interface Remembered {
  slot: ModelSlot;
  resolution: Resolution;
  /** Prices that depend on the time are looked up again each minute. */
  validUntil: number;
}

/** Which models there are, who offers them and for how much. */
export class Catalog {
  readonly #world: Pick<World, 'now'>;
  readonly #aliases: Readonly<Record<string, string>>;
  readonly #fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly #loadPrices: () => Promise<PriceLibrary>;
  #providers: readonly ProviderDescription[];
  #library: PriceLibrary | undefined;
  #loading: Promise<PriceLibrary> | undefined;
  #index: ModelIndex;
  readonly #remembered = new Map<string, Remembered>();
  #all: { models: readonly Resolution[]; validUntil: number } | undefined;

  constructor(settings: CatalogSettings) {
    this.#world = settings.world;
    this.#aliases = settings.aliases ?? {};
    this.#fallbacks = settings.fallbacks ?? {};
    this.#loadPrices = settings.loadPrices ?? loadPriceLibrary;
    this.#providers = settings.providers;
    this.#index = indexModels(this.#providers, undefined);
  }

  /** Loads the prices; call it once the server listens. Everything that needs them waits for it anyway. */
  async load(): Promise<void> {
    if (this.#library !== undefined) return;
    this.#loading ??= this.#loadPrices();
    try {
      this.#library = await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
    this.#reindex();
  }

  /** Takes other providers, after a change of the configuration or once local servers were found. */
  replaceProviders(providers: readonly ProviderDescription[]): void {
    this.#providers = providers;
    this.#reindex();
  }

  get providers(): readonly ProviderDescription[] {
    return this.#providers;
  }

  /**
   * What a name stands for. `ownKeys` names the providers that the caller's workspace has keys of its own for: names
   * that are not listed are forwarded to them too. Fails with `model_not_found`.
   */
  async resolve(name: string, options: { ownKeys?: ReadonlySet<string> } = {}): Promise<Resolution> {
    if (this.#library === undefined && !this.#needsNoPrices(name)) await this.load();
    const now = this.#world.now();
    const known = this.#remembered.get(name);
    if (known !== undefined && now < known.validUntil) return known.resolution;
    const slot = known?.slot ?? this.#find(name, options.ownKeys);
    const resolution = this.#price(slot, name, now);
    // What only one workspace's key opens must not open for others.
    const isForAll = slot.at.some(({ provider }) => provider.available) || this.#index.slots.has(slot.id);
    if (isForAll) this.#remember(name, { slot, ...resolution });
    return resolution.resolution;
  }

  /**
   * A model and its fallbacks, in the order to try them: those that the caller named, else those of the configuration.
   * A fallback that does not exist fails with the place of it as `param`; one of the configuration is left out.
   */
  async resolveAll(
    name: string,
    fallbacks: readonly string[],
    options: { ownKeys?: ReadonlySet<string> } = {},
  ): Promise<Resolution[]> {
    const first = await this.resolve(name, options);
    const all = [first];
    const named = fallbacks.length > 0;
    for (const [place, fallback] of (named ? fallbacks : first.fallbacks).entries()) {
      try {
        all.push(await this.resolve(fallback, options));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (named) {
          throw new ApiError(error.code, { param: `service.fallbacks[${place}]`, message: error.message });
        }
      }
    }
    return all;
  }

  /** Every model with all its offers, those that can be called now first. */
  async all(): Promise<readonly Resolution[]> {
    await this.load();
    const now = this.#world.now();
    if (this.#all !== undefined && now < this.#all.validUntil) return this.#all.models;
    const priced = [...this.#index.slots.values()].map((slot) => this.#price(slot, slot.id, now));
    const models = priced.map(({ resolution }) => resolution);
    const isLive = (resolution: Resolution) => resolution.offers.some((offer) => offer.available);
    this.#all = {
      models: [...models.filter(isLive), ...models.filter((resolution) => !isLive(resolution))],
      validUntil: Math.min(...priced.map(({ validUntil }) => validUntil), Number.POSITIVE_INFINITY),
    };
    return this.#all.models;
  }

  /** Ids that somebody who wrote `name` may have meant. */
  nearest(name: string): string[] {
    return nearestNames(name, this.#index.slots.keys());
  }

  #reindex(): void {
    this.#index = indexModels(this.#providers, this.#library);
    this.#remembered.clear();
    this.#all = undefined;
  }

  /** The simulator, local servers and upstreams with prices of their own answer before the library is loaded. */
  #needsNoPrices(name: string): boolean {
    const slot = this.#index.slots.get(this.#aliasOf(name));
    return slot?.at.every(({ provider, providerModel }) => settledPrices(provider, providerModel)) ?? false;
  }

  #aliasOf(name: string): string {
    return ownValue(this.#aliases, name) ?? name;
  }

  #find(name: string, ownKeys: ReadonlySet<string> | undefined): ModelSlot {
    const canForward = (provider: ProviderDescription) =>
      provider.available || (ownKeys?.has(provider.name) ?? false);
    return resolveName(this.#aliasOf(name), this.#index, canForward);
  }

  #price(slot: ModelSlot, name: string, now: number): { resolution: Resolution; validUntil: number } {
    const offers: Offer[] = [];
    let validUntil = Number.POSITIVE_INFINITY;
    for (const { provider, providerModel } of slot.at) {
      const built = buildOffer(provider, { id: slot.id, providerModel }, this.#library ?? noPrices, now);
      offers.push(built.offer);
      if (built.isConditional) validUntil = (Math.floor(now / minuteMs) + 1) * minuteMs;
    }
    const fallbacks = ownValue(this.#fallbacks, name) ?? ownValue(this.#fallbacks, slot.id) ?? [];
    return { resolution: { id: slot.id, offers, fallbacks }, validUntil };
  }

  #remember(name: string, entry: Remembered): void {
    if (this.#remembered.size >= rememberedMax) this.#remembered.clear();
    this.#remembered.set(name, entry);
  }
}

const noPrices: PriceLibrary = { names: () => [], find: () => undefined, sourceOf: () => undefined };

/** The model that a command takes when none is named: of the first provider that can be called, else the simulator's. */
export function defaultModel(all: readonly Resolution[], providers: readonly ProviderDescription[]): string {
  const inOrder = providers.filter(({ kind, available }) => available && kind !== 'simulator');
  for (const provider of inOrder) {
    const has = (id: string) =>
      all.some((model) => model.id === id && model.offers.some((offer) => offer.provider === provider.name));
    const found =
      preferredModels.find(has) ??
      all.find((model) => model.offers.some((offer) => offer.provider === provider.name))?.id;
    if (found !== undefined) return found;
  }
  return 'sim/assistant';
}
