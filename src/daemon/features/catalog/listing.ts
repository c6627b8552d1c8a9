import type { RefreshedProvider } from '../../../shared/contract/models.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { pricesFromDecimals, type WrittenPrices } from '../../../shared/money/exact-price.ts';
import type { Prices } from '../../../shared/money/money.ts';
import type { Modality, ModelKind } from './model-traits.ts';
import type { ModelDetails, ProviderDescription } from './offer.ts';

/** A model in its provider's list. */
export interface ListedModel {
  /** Its name at the provider. */
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  /** Unix seconds. */
  createdAt?: number | undefined;
  contextLength?: number | undefined;
  outputTokensMax?: number | undefined;
  inputModalities?: readonly string[] | undefined;
  tools?: boolean | undefined;
  structuredOutput?: boolean | undefined;
  reasoning?: boolean | undefined;
  logprobs?: boolean | undefined;
  kind?: ModelKind | undefined;
  /** Dollars per token, as decimals. */
  usdPerToken?: WrittenTokenPrices | undefined;
}

interface WrittenTokenPrices {
  input: string;
  output: string;
  cachedInput: string | undefined;
  cacheWrite: string | undefined;
}

/** A provider whose models may be listed. */
export interface ListingProvider {
  description: ProviderDescription;
  /** Rejects with a message for display. Undefined if the provider has no list. */
  listModels?: (() => Promise<ListedModel[]>) | undefined;
}

type Listing = Record<string, ModelDetails>;

export interface ListingsDeps {
  providers: () => readonly ListingProvider[];
  /** Replaces the details of providers' models. */
  replace: (details: ReadonlyMap<string, Listing>) => void;
  /** The number of a provider's models in the catalog. */
  count: (provider: string) => Promise<number>;
  /** Stores the listings for the next start. */
  save: (listings: string) => Promise<void>;
  /** In milliseconds since 1970. */
  now: () => number;
}

const formatVersion = 1;
/** Smaller lists are not checked for a sudden loss of models. */
const comparableMin = 4;
/** New models that a refresh names. */
const addedMax = 100;

/** The models that providers listed last, stored across restarts. */
export function createModelListings({ providers, replace, count, save, now }: ListingsDeps) {
  const known = new Map<string, { baseUrl: string | undefined; models: Listing }>();
  // Suspicious lists, which are accepted when they are repeated.
  const suspicious = new Map<string, string>();
  const apply = () => {
    const here = addresses();
    // A different address under the same name has different models.
    const current = [...known].filter(([name, { baseUrl }]) => here.has(name) && here.get(name) === baseUrl);
    replace(new Map(current.map(([name, { models }]) => [name, models])));
  };
  const addresses = () => new Map(providers().map(({ description: { name, baseUrl } }) => [name, baseUrl]));

  /** Applies one provider's list; returns why it was rejected, if so. */
  const accept = (
    { name, baseUrl }: ProviderDescription,
    answer: PromiseSettledResult<ListedModel[]> | undefined,
  ): string | null => {
    const failure = failureOf(answer);
    if (failure !== null || answer?.status !== 'fulfilled') return failure;
    const models = detailsOf(answer.value);
    const suspicion = suspicionOf(models, known.get(name));
    const names = Object.keys(models).sort().join('\n');
    if (suspicion !== null && suspicious.get(name) !== names) {
      suspicious.set(name, names);
      return suspicion;
    }
    suspicious.delete(name);
    known.set(name, { baseUrl, models: withFirstDates(models, known.get(name), now()) });
    return null;
  };

  return {
    /**
     * Lists the models of every available provider. A provider that fails keeps its previous list, as does one that
     * suddenly lists less than half of it, until it repeats the shorter list.
     */
    async refresh(): Promise<RefreshedProvider[]> {
      const asked = providers().filter(({ description, listModels }) => description.available && listModels);
      const before = await Promise.all(asked.map(({ description }) => count(description.name)));
      const listedBefore = asked.map(({ description }) => known.get(description.name));
      const results = await Promise.allSettled(asked.map(({ listModels }) => listModels?.() ?? []));
      const failures = asked.map(({ description }, index) => accept(description, results[index]));
      apply();
      await save(JSON.stringify({ version: formatVersion, providers: Object.fromEntries(known) }));
      return await Promise.all(
        asked.map(async ({ description }, index) => ({
          provider: description.name,
          models: await count(description.name),
          models_before: before[index] ?? 0,
          added: addedTo(listedBefore[index], known.get(description.name)),
          error: failures[index] ?? null,
        })),
      );
    },

    /** Restores what `save` stored in an earlier run; ignores unknown formats. */
    restore(listings: string): void {
      const { version, providers: stored } = parse(listings);
      if (version !== formatVersion) return;
      const here = addresses();
      for (const [name, listing] of Object.entries(stored ?? {})) {
        if (here.has(name) && here.get(name) === listing.baseUrl) known.set(name, listing);
      }
      if (known.size > 0) apply();
    },
  };
}

function parse(listings: string): {
  version?: number;
  providers?: Record<string, { baseUrl: string | undefined; models: Listing }>;
} {
  try {
    return (JSON.parse(listings) ?? {}) as ReturnType<typeof parse>;
  } catch {
    return {};
  }
}

function failureOf(answer: PromiseSettledResult<ListedModel[]> | undefined): string | null {
  if (answer === undefined) return null;
  if (answer.status === 'fulfilled') return answer.value.length > 0 ? null : 'It listed no models.';
  return answer.reason instanceof Error ? answer.reason.message : 'It could not be reached.';
}

function suspicionOf(models: Listing, before: { models: Listing } | undefined): string | null {
  const count = Object.keys(models).length;
  const countBefore = Object.keys(before?.models ?? {}).length;
  if (countBefore < comparableMin || count * 2 >= countBefore) return null;
  return `It listed only ${count} models, after ${countBefore} before; the previous list is kept. Refresh again to accept the shorter one.`;
}

function addedTo(before: { models: Listing } | undefined, now: { models: Listing } | undefined): string[] {
  if (before === undefined || now === undefined) return [];
  return Object.keys(now.models)
    .filter((name) => !Object.hasOwn(before.models, name))
    .slice(0, addedMax);
}

/** Models with the times under which each was first listed: local servers give the time of the request as that of its creation. */
function withFirstDates(models: Listing, before: { models: Listing } | undefined, now: number): Listing {
  return Object.fromEntries(
    Object.entries(models).map(([name, details]) => {
      const known = ownValue(before?.models ?? {}, name);
      const listedAt = known === undefined ? now : (known.listedAt ?? 0);
      return [name, { ...details, createdAt: known?.createdAt ?? details.createdAt, listedAt }];
    }),
  );
}

const modalities: ReadonlySet<string> = new Set<Modality>(['text', 'image', 'file', 'audio', 'video']);

function detailsOf(models: readonly ListedModel[]): Listing {
  return Object.fromEntries(
    models.map((model) => {
      const { name, title, description, createdAt, contextLength, outputTokensMax, usdPerToken } = model;
      const { kind, tools, structuredOutput, reasoning, logprobs } = model;
      const inputModalities = model.inputModalities?.filter((each): each is Modality => modalities.has(each));
      const listed = { kind, inputModalities, tools, structuredOutput, reasoning, logprobs };
      const capabilities = Object.fromEntries(
        Object.entries(listed).filter(([, value]) => value !== undefined),
      ) as ModelDetails['capabilities'];
      const prices = usdPerToken && pricesPerMillion(usdPerToken);
      const details = { title, description, createdAt, contextLength, outputTokensMax, capabilities, prices };
      return [name, details];
    }),
  );
}

function pricesPerMillion({
  input,
  output,
  cachedInput,
  cacheWrite,
}: WrittenTokenPrices): Prices | undefined {
  const written: WrittenPrices = { input: perMillion(input), output: perMillion(output) };
  if (cachedInput !== undefined) written.cachedInput = perMillion(cachedInput);
  if (cacheWrite !== undefined) written.cacheWrite = perMillion(cacheWrite);
  return pricesFromDecimals(written);
}

/** `0.00000015` → `0.00000015e6`: exact, unlike a product of floats. */
function perMillion(usdPerToken: string): string {
  const [, digits = '', exponent = '0'] = /^([^e]*)(?:e([+-]?\d{1,3}))?$/i.exec(usdPerToken.trim()) ?? [];
  return `${digits}e${Number(exponent) + 6}`;
}
