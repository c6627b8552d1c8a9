import type { RefreshedProvider } from '../../../shared/contract/models.ts';
import type { Prices } from '../../../shared/money.ts';
import { pricesFromDecimals, type WrittenPrices } from './exact-price.ts';
import type { Modality } from './model-traits.ts';
import type { ModelDetails, ProviderDescription } from './offer.ts';

/** One model as its provider lists it. */
export interface ListedModel {
  /** Its name there. */
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
  /** Dollars a token, as decimals. */
  usdPerToken?: WrittenTokenPrices | undefined;
}

interface WrittenTokenPrices {
  input: string;
  output: string;
  cachedInput: string | undefined;
  cacheWrite: string | undefined;
}

/** A provider that can be asked what it has. */
export interface ListingProvider {
  description: ProviderDescription;
  /** Rejects with what went wrong; its message is for people. Undefined for one that cannot be asked. */
  listModels?: (() => Promise<ListedModel[]>) | undefined;
}

type Listing = Record<string, ModelDetails>;

export interface ListingsNeeds {
  providers: () => readonly ListingProvider[];
  /** Puts what a provider told of its models in the place of what was known. */
  replace: (details: ReadonlyMap<string, Listing>) => void;
  /** How many models of a provider the catalog has. */
  count: (provider: string) => Promise<number>;
  /** Keeps the listings for the next start. */
  keep: (listings: string) => Promise<void>;
}

const formatVersion = 1;
/** Of fewer models than these nobody can say that suddenly most are gone. */
const comparableMin = 4;

/** What providers told of their models when they were last asked; kept over restarts. */
export function modelListings({ providers, replace, count, keep }: ListingsNeeds) {
  const known = new Map<string, { baseUrl: string | undefined; models: Listing }>();
  // What a provider listed last when that was doubted: told again, it is true.
  const doubted = new Map<string, string>();
  const apply = () => replace(new Map([...known].map(([name, { models }]) => [name, models])));

  /** Takes one provider's answer; why it was not taken comes back. */
  const take = (
    { name, baseUrl }: ProviderDescription,
    answer: PromiseSettledResult<ListedModel[]> | undefined,
  ): string | null => {
    const failure = failureOf(answer);
    if (failure !== null || answer?.status !== 'fulfilled') return failure;
    const models = detailsOf(answer.value);
    const doubt = doubtOf(models, known.get(name));
    const names = Object.keys(models).sort().join('\n');
    if (doubt !== null && doubted.get(name) !== names) {
      doubted.set(name, names);
      return doubt;
    }
    doubted.delete(name);
    known.set(name, { baseUrl, models });
    return null;
  };

  return {
    /**
     * Asks every provider that the host has a key for, all at once. One that fails keeps what it told before, as does one
     * that suddenly lists less than half of it, until it lists the same again.
     */
    async refresh(): Promise<RefreshedProvider[]> {
      const asked = providers().filter(({ description, listModels }) => description.available && listModels);
      const before = await Promise.all(asked.map(({ description }) => count(description.name)));
      const told = await Promise.allSettled(asked.map(({ listModels }) => listModels?.() ?? []));
      const failures = asked.map(({ description }, place) => take(description, told[place]));
      apply();
      await keep(JSON.stringify({ version: formatVersion, providers: Object.fromEntries(known) }));
      return await Promise.all(
        asked.map(async ({ description }, place) => ({
          provider: description.name,
          models: await count(description.name),
          models_before: before[place] ?? 0,
          error: failures[place] ?? null,
        })),
      );
    },

    /** Takes what `keep` was given at an earlier run; a text that is none of ours is left alone. */
    restore(listings: string): void {
      const { version, providers: kept } = parse(listings);
      if (version !== formatVersion) return;
      const here = new Map(providers().map(({ description }) => [description.name, description.baseUrl]));
      for (const [name, listing] of Object.entries(kept ?? {})) {
        // Another place under the same name has other models.
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
    return JSON.parse(listings) as ReturnType<typeof parse>;
  } catch {
    return {};
  }
}

function failureOf(answer: PromiseSettledResult<ListedModel[]> | undefined): string | null {
  if (answer === undefined) return null;
  if (answer.status === 'fulfilled') return answer.value.length > 0 ? null : 'It listed no models.';
  return answer.reason instanceof Error ? answer.reason.message : 'It could not be asked.';
}

function doubtOf(models: Listing, before: { models: Listing } | undefined): string | null {
  const count = Object.keys(models).length;
  const countBefore = Object.keys(before?.models ?? {}).length;
  if (countBefore < comparableMin || count * 2 >= countBefore) return null;
  return `It listed only ${count} models, after ${countBefore}: those are kept. If it lists the same again, that is taken.`;
}

const modalities: ReadonlySet<string> = new Set<Modality>(['text', 'image', 'file', 'audio', 'video']);

function detailsOf(models: readonly ListedModel[]): Listing {
  return Object.fromEntries(
    models.map((model) => {
      const { name, title, description, createdAt, contextLength, outputTokensMax, usdPerToken } = model;
      const { tools, structuredOutput, reasoning, logprobs } = model;
      const inputModalities = model.inputModalities?.filter((kind): kind is Modality => modalities.has(kind));
      const told = { inputModalities, tools, structuredOutput, reasoning, logprobs };
      const capabilities = Object.fromEntries(
        Object.entries(told).filter(([, value]) => value !== undefined),
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

/** `0.00000015` → `0.00000015e6`: by its exponent, as a product of floats would not be exact. */
function perMillion(usdPerToken: string): string {
  const [, digits = '', exponent = '0'] = /^([^e]*)(?:e([+-]?\d{1,3}))?$/i.exec(usdPerToken.trim()) ?? [];
  return `${digits}e${Number(exponent) + 6}`;
}
