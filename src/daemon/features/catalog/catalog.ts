import { ApiError } from '../../../shared/errors.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import { type AliasTarget, mapTarget, modelsInOrder, modelsOf } from './alias.ts';
import { buildOffer, settledPrices } from './build-offer.ts';
import { indexModels, type ModelIndex, type ModelSlot } from './model-index.ts';
import { nearestNames, plainName } from './model-names.ts';
import { starIn } from './name-pattern.ts';
import type { Offer, ProviderDescription, Resolution } from './offer.ts';
import { loadPriceLibrary, type PriceLibrary } from './price-library.ts';
import { resolveName, resolveServersOwn } from './resolve-name.ts';

interface Wildcard {
  /** Lowercase. */
  pattern: string;
  /** Whether it names the provider, too. */
  hasProvider: boolean;
  target: AliasTarget;
}

/** Finds aliases by the names that callers use. */
export class AliasIndex {
  readonly #aliases: Readonly<Record<string, AliasTarget>>;
  /** By lowercase name. */
  readonly #anyCase = new Map<string, AliasTarget>();
  /** The longest first. */
  readonly #wildcards: readonly Wildcard[];
  readonly #isEmpty: boolean;

  constructor(aliases: Readonly<Record<string, AliasTarget>>) {
    this.#aliases = aliases;
    const names = Object.keys(aliases);
    this.#isEmpty = names.length === 0;
    for (const name of names.filter((each) => !isWildcard(each)))
      this.#anyCase.set(name.toLowerCase(), aliases[name] as AliasTarget);
    this.#wildcards = names
      .filter(isWildcard)
      .sort((a, b) => b.length - a.length)
      .map((name) => ({
        pattern: name.toLowerCase(),
        hasProvider: name.includes('/'),
        target: aliases[name] as AliasTarget,
      }));
  }

  /**
   * What a name stands for: by the alias of that name, as it is written or else in any case, or by the longest wildcard that matches.
   * `provider/model` is matched only by a wildcard with a provider. A `*` of the target is what the first one of the wildcard matches.
   */
  find(name: string): AliasTarget | undefined {
    if (this.#isEmpty) return undefined;
    const exact = ownValue(this.#aliases, name);
    if (exact !== undefined && !isWildcard(name)) return exact;
    const lower = name.toLowerCase();
    const sameName = this.#anyCase.get(lower) ?? this.#anyCase.get(plainName(lower));
    if (sameName !== undefined) return sameName;
    const hasProvider = name.includes('/');
    for (const wildcard of this.#wildcards) {
      const matched = wildcard.hasProvider === hasProvider ? starIn(wildcard.pattern, lower) : undefined;
      if (matched === undefined) continue;
      const text = name.slice(matched.start, matched.end);
      return mapTarget(wildcard.target, (model) => model.replaceAll('*', () => text));
    }
    return undefined;
  }

  /** The names of the aliases that stand for one name each. */
  names(): string[] {
    return Object.keys(this.#aliases).filter((name) => !isWildcard(name));
  }
}

export function isWildcard(name: string): boolean {
  return name.includes('*');
}

export interface CatalogSettings {
  world: Pick<World, 'now'>;
  providers: readonly ProviderDescription[];
  /** Other names for models or groups of models: `{ fast: 'openai/gpt-5-mini' }`. Their members may change before `replaceProviders`. */
  aliases?: Readonly<Record<string, AliasTarget>>;
  /** Models to try after one, by its id or the name that callers use. */
  fallbacks?: Readonly<Record<string, readonly string[]>>;
  loadPrices?: () => Promise<PriceLibrary>;
  /** Called before a name is refused: undefined if nothing can have changed, else the providers may be others when it resolves. */
  onUnknown?: () => Promise<unknown> | undefined;
}

/** Maximum number of cached names, which callers can invent. */
const cachedMax = 2000;
const minuteMs = 60_000;

/** The models as workspaces see them that have their own keys for the same providers. */
interface View {
  index: ModelIndex;
  canCall: (provider: ProviderDescription) => boolean;
  names: Map<string, CachedName>;
  all: { models: readonly Resolution[]; validUntil: number } | undefined;
}

interface OwnKeys {
  /** The providers for which the workspace has its own keys. */
  ownKeys?: ReadonlySet<string> | undefined;
}

/** Returns a text of the call that decides to which model of a weighted alias it goes. */
type Affinity = () => string;

interface Alias {
  id: string;
  models: Resolution[];
}

interface CachedName {
  slot: ModelSlot;
  resolution: Resolution;
  /** Time-dependent prices are looked up again each minute. */
  validUntil: number;
}

/** The models, their providers and prices. */
export class Catalog {
  readonly #world: Pick<World, 'now'>;
  readonly #configuredAliases: Readonly<Record<string, AliasTarget>>;
  #aliases: AliasIndex;
  readonly #fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly #loadPrices: () => Promise<PriceLibrary>;
  readonly #onUnknown: () => Promise<unknown> | undefined;
  #providers: readonly ProviderDescription[];
  #library: PriceLibrary | undefined;
  #loading: Promise<PriceLibrary> | undefined;
  /** Without own keys. */
  #hostView: View;
  /** By the providers that only own keys make callable. */
  readonly #views = new Map<string, View>();

  constructor(settings: CatalogSettings) {
    this.#world = settings.world;
    this.#configuredAliases = settings.aliases ?? {};
    this.#aliases = new AliasIndex(this.#configuredAliases);
    this.#fallbacks = settings.fallbacks ?? {};
    this.#loadPrices = settings.loadPrices ?? loadPriceLibrary;
    this.#onUnknown = settings.onUnknown ?? (() => undefined);
    this.#providers = settings.providers;
    this.#hostView = this.#createView(({ available }) => available);
  }

  /** Loads the prices, to be called once the server listens. Whatever needs them earlier waits. */
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

  /** Replaces the providers, after a change of the configuration or once local servers are detected. */
  replaceProviders(providers: readonly ProviderDescription[]): void {
    this.#providers = providers;
    this.#reindex();
  }

  get providers(): readonly ProviderDescription[] {
    return this.#providers;
  }

  /**
   * Resolves the name of a model or an alias, of an alias of several models to the first. Unlisted names are forwarded to
   * providers that can be called. Fails with `model_not_found`.
   */
  async resolve(name: string, options: OwnKeys = {}): Promise<Resolution> {
    const [model = name] = this.#modelsOf(name);
    return await this.find(model, options);
  }

  /** As `resolve`, but aliases are not looked up. */
  async find(model: string, options: OwnKeys = {}): Promise<Resolution> {
    if (this.#library === undefined && !this.#needsNoPrices(model, options)) await this.load();
    const now = this.#world.now();
    const known = this.#viewOf(options).names.get(model);
    if (known !== undefined && now < known.validUntil) return known.resolution;
    let slot = known?.slot ?? this.#slotOf(model, options);
    const looking = slot instanceof ApiError ? this.#onUnknown() : undefined;
    if (looking) {
      await looking;
      slot = this.#slotOf(model, options);
    }
    if (slot instanceof ApiError) throw slot;
    const resolution = this.#price(slot, now);
    this.#viewOf(options).names.set(model, { slot, ...resolution });
    return resolution.resolution;
  }

  #slotOf(model: string, options: OwnKeys): ModelSlot | ApiError {
    const { index, canCall } = this.#viewOf(options);
    try {
      return resolveName(model, index, canCall);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'model_not_found') return error;
      throw error;
    }
  }

  /**
   * Resolves a model or the models of an alias, and then their fallbacks: the caller's, or else the configured ones. Fails
   * with the position of a caller's fallback that does not exist as `param`; configured ones that do not exist are skipped,
   * as are models of an alias, unless none exists. Returns immediately for a model that was resolved before and has no
   * fallbacks, as nearly all calls name one.
   */
  resolveAll(
    name: string,
    fallbacks: readonly string[],
    { affinity, ...options }: OwnKeys & { affinity?: Affinity } = {},
  ): Resolution[] | Promise<Resolution[]> {
    const target = this.#aliases.find(name);
    if (target === undefined || typeof target === 'string') {
      const known = fallbacks.length === 0 ? this.#viewOf(options).names.get(target ?? name) : undefined;
      const isCurrent =
        known !== undefined && known.slot.others === undefined && this.#world.now() < known.validUntil;
      if (isCurrent && this.#fallbacksOf(name, known.resolution).length === 0) return [known.resolution];
    }
    return this.#resolveEach(modelsInOrder(target ?? name, affinity?.() ?? ''), { name, fallbacks, options });
  }

  async #resolveEach(
    models: readonly string[],
    { name, fallbacks, options }: { name: string; fallbacks: readonly string[]; options: OwnKeys },
  ): Promise<Resolution[]> {
    const all: Resolution[] = [];
    const missing: ApiError[] = [];
    const add = async (model: string, isOneOfSeveral: boolean): Promise<void> => {
      const found = await this.find(model, options).catch(apiErrorOf);
      if (found instanceof ApiError) return void missing.push(found);
      const { others = [] } = this.#viewOf(options).names.get(model)?.slot ?? {};
      all.push(isOneOfSeveral || others.length > 0 ? { ...found, isOneOfSeveral: true } : found);
      for (const other of others) await add(other, true);
    };
    for (const model of models) await add(model, models.length > 1);
    const [first] = all;
    if (first === undefined) throw missing[0] ?? new ApiError('model_not_found', { param: 'model' });
    const isNamed = fallbacks.length > 0;
    for (const [index, fallback] of (isNamed ? fallbacks : this.#fallbacksOf(name, first)).entries()) {
      const found = await this.resolve(fallback, options).catch(apiErrorOf);
      if (!(found instanceof ApiError)) all.push(found);
      else if (isNamed)
        throw new ApiError(found.code, { param: `service.fallbacks[${index}]`, message: found.message });
    }
    return all;
  }

  /** The configured fallbacks of a name that a caller used, or else of the model that it stands for. */
  #fallbacksOf(name: string, { id }: Resolution): readonly string[] {
    return ownValue(this.#fallbacks, name) ?? ownValue(this.#fallbacks, id) ?? noNames;
  }

  /** An alias with all offers of those of its models that exist; undefined if there is none. */
  async alias(id: string, options: OwnKeys = {}): Promise<Alias | undefined> {
    const target = this.#aliases.find(id);
    if (target === undefined) return undefined;
    const found = await Promise.all(
      modelsOf(target).map((model) => this.find(model, options).catch(apiErrorOf)),
    );
    const models = found.filter((model): model is Resolution => !(model instanceof ApiError));
    return models.length > 0 ? { id, models } : undefined;
  }

  /** Every alias, as `alias` returns it. */
  async aliases(options: OwnKeys = {}): Promise<Alias[]> {
    const all = await Promise.all(this.#aliases.names().map((id) => this.alias(id, options)));
    return all.filter((alias) => alias !== undefined);
  }

  /** Every model with all its offers, callable ones first. */
  async all(options: OwnKeys = {}): Promise<readonly Resolution[]> {
    await this.load();
    const now = this.#world.now();
    const view = this.#viewOf(options);
    if (view.all !== undefined && now < view.all.validUntil) return view.all.models;
    const priced = [...view.index.slots.values()].map((slot) => this.#price(slot, now));
    const models = priced.map(({ resolution }) => resolution);
    const isLive = ({ id }: Resolution) =>
      view.index.slots.get(id)?.at.some(({ provider }) => view.canCall(provider)) ?? false;
    view.all = {
      models: [...models.filter(isLive), ...models.filter((resolution) => !isLive(resolution))],
      validUntil: Math.min(...priced.map(({ validUntil }) => validUntil), Number.POSITIVE_INFINITY),
    };
    return view.all.models;
  }

  /** Whether a resolved model is a known one; providers with a list of models are sent other names, too. */
  isKnown({ id, offers }: Pick<Resolution, 'id' | 'offers'>): boolean {
    const acceptsAny = ({ provider }: Offer) => this.#hostView.index.providers.get(provider)?.models === '*';
    return this.#hostView.index.slots.has(id) || offers.some(acceptsAny);
  }

  /** Suggests ids for a misspelled name. */
  nearest(name: string): string[] {
    return nearestNames(name, this.#hostView.index.slots.keys());
  }

  #reindex(): void {
    // A reload changes their members.
    this.#aliases = new AliasIndex(this.#configuredAliases);
    this.#hostView = this.#createView(({ available }) => available);
    this.#views.clear();
  }

  #createView(canCall: View['canCall']): View {
    const index = indexModels(this.#providers, this.#library, canCall);
    return { index, canCall, names: new RecentMap<string, CachedName>(cachedMax), all: undefined };
  }

  #viewOf({ ownKeys }: OwnKeys): View {
    if (ownKeys === undefined || ownKeys.size === 0) return this.#hostView;
    const added = this.#providers.filter(({ available, name }) => !available && ownKeys.has(name));
    if (added.length === 0) return this.#hostView;
    const names = new Set(added.map(({ name }) => name));
    const key = [...names].join(' ');
    const view =
      this.#views.get(key) ?? this.#createView(({ available, name }) => available || names.has(name));
    this.#views.set(key, view);
    return view;
  }

  /** The simulator, local servers and models with configured prices do not need the library. */
  #needsNoPrices(model: string, options: OwnKeys): boolean {
    const { index, canCall } = this.#viewOf(options);
    const slot = index.slots.get(model) ?? resolveServersOwn(model, index, canCall);
    return slot?.at.every(({ provider, providerModel }) => settledPrices(provider, providerModel)) ?? false;
  }

  #modelsOf(name: string): readonly string[] {
    return modelsOf(this.#aliases.find(name) ?? name);
  }

  #price(slot: ModelSlot, now: number): { resolution: Resolution; validUntil: number } {
    const offers: Offer[] = [];
    let validUntil = Number.POSITIVE_INFINITY;
    for (const { provider, providerModel } of slot.at) {
      const built = buildOffer(provider, { id: slot.id, providerModel }, this.#library ?? noPrices, now);
      offers.push(built.offer);
      if (built.isConditional) validUntil = (Math.floor(now / minuteMs) + 1) * minuteMs;
    }
    return { resolution: { id: slot.id, offers }, validUntil };
  }
}

const noNames: readonly string[] = [];

/** For names that may be wrong. */
function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

const noPrices: PriceLibrary = { names: () => [], find: () => undefined, sourceOf: () => undefined };
