import type { Tokens } from '../../shared/money.ts';
import type { ListedModel } from '../features/catalog/index.ts';
import type { Batch, FinishReason, Wire } from '../features/inference/neutral.ts';
import type { UpstreamCall, UpstreamFailure } from '../features/inference/upstream.ts';

/** Where an HTTP provider is and how it is spoken to. */
export interface ProviderSettings {
  name: string;
  /** Without a slash at the end. */
  baseUrl: string;
}

/** Turns one provider's bytes into neutral events. Bytes may be cut anywhere. */
export interface Decoder {
  push(bytes: Uint8Array): Batch;
  /** After the last byte. Throws an UpstreamFailure of kind `broken` when the answer was cut short. */
  end(): Batch;
  /** Set once the answer is whole: what may still follow is nothing to wait for. */
  readonly isComplete?: boolean;
  /** Set once nothing more of the answer is to come: what may still follow are counts, and the end of the stream. */
  readonly hasFinished?: boolean;
  /** Why the answer broke off, where `push` still had events from before that to give. */
  readonly failure?: UpstreamFailure | undefined;
}

/**
 * What a provider behind HTTP has of its own: how a call is written, how the answer is read, what its failures mean.
 * Everything else (timeouts, aborts, waiting for the first event) is in http-upstream.ts, once for all.
 */
export interface Adapter {
  /** Pure: the request for one call. The body is JSON text; asks for a stream unless `wholeAnswer(call)`. */
  request(call: UpstreamCall): { url: string; headers: Record<string, string>; body: string };
  decoder(call: UpstreamCall): Decoder;
  /** Whether this call is answered by one JSON document in the caller's own format. */
  wholeAnswer?(call: UpstreamCall): boolean;
  /**
   * Reads usage and outcome off such a document. Throws an UpstreamFailure when it is not an answer.
   * `isRepaired` tells that `json` was put right in place, so that its bytes must be written anew.
   */
  readAnswer?(
    json: Record<string, unknown>,
    call: UpstreamCall,
  ): { tokens: Tokens | undefined; finish: FinishReason; isRepaired?: boolean };
  /** Such a document as the one batch of a stream, from a server that cannot stream. Throws as `readAnswer` does. */
  documentAsBatch?(json: Record<string, unknown>, call: UpstreamCall): Batch;
  /** What a status of 400 or more means. `body` is at most 64 KiB and may be anything. */
  failure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
}

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
