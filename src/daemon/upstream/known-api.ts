import type { ListedModel } from '../features/catalog/index.ts';
import type { Wire } from '../features/inference/neutral.ts';
import type { Adapter, ProviderSettings } from './adapter.ts';

/**
 * A provider that is known by name: where it is, how model calls are made there, and what it can be asked beside.
 * `providers/vercel` is the smallest one, `providers/google` the smallest with a format of its own.
 */
export interface KnownApi {
  /** Where it is unless the configuration says otherwise; without a slash at its end. */
  baseUrl: string;
  /** The formats of callers that it speaks itself; undefined where both are translated into its own. */
  wires: readonly Wire[] | undefined;
  /** `wire` is the one of `wires` that is to be spoken; undefined where there are none. */
  adapter(settings: ProviderSettings, wire: Wire | undefined): Adapter;
  /** The headers that carry a key. */
  keyHeaders(key: string): Record<string, string>;
  /** What is got there costs nothing, and only a good key gets it. */
  keyCheckUrl(baseUrl: string): string;
  models: ModelListing;
}

/** How a provider lists its models. */
export interface ModelListing {
  /** Where one page of the list is; the first one where no page is named. */
  url(baseUrl: string, page?: string): string;
  /** The list in an answer, as far as the answer holds one. */
  listIn(answer: Json): unknown;
  /** What names the page after this one; undefined on the last. */
  nextPage?(answer: Json): string | undefined;
  /** One model of the list; undefined for those that answer on other endpoints than these. */
  read(model: Json): ListedModel | undefined;
}

type Json = Record<string, unknown>;
