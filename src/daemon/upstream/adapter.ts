import type { Tokens } from '../../shared/money/money.ts';
import type { ListedModel } from '../features/catalog/index.ts';
import type { Batch, Billed, EmbeddingInput, FinishReason, Wire } from '../features/upstreams/neutral.ts';
import type { Dropped, UpstreamCall, UpstreamFailure, Vector } from '../features/upstreams/upstream.ts';
import type { Json } from './json.ts';

/** The name and address of one HTTP provider. */
export interface ProviderSettings {
  name: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** Where calls with the client's own login go, if that is another address; without a trailing slash. */
  loginUrl?: string | undefined;
}

/** A request to a provider, with a JSON body. `dropped`: what it leaves out of a call in another format. */
export interface ProviderRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  dropped?: readonly Dropped[];
}

/** Decodes one provider's bytes into neutral events. Chunks may be split anywhere. */
export interface Decoder {
  push(bytes: Uint8Array): Batch;
  /** Called after the last byte. Throws an UpstreamFailure of kind `broken` if the answer was cut short. */
  end(): Batch;
  /** The answer is complete; nothing that may follow is worth waiting for. */
  readonly isComplete?: boolean;
  /** The content is complete; only token counts and the end of the stream may follow. */
  readonly hasFinished?: boolean;
  /** Why the answer broke off, when the last `push` still returned events that came before the failure. */
  readonly failure?: UpstreamFailure | undefined;
}

/**
 * The format of one HTTP provider: how to write a call, read its answer and interpret its errors. Timeouts, aborts and
 * waiting for the first event are handled for all providers in http-upstream.ts.
 */
export interface Adapter {
  /** Pure: the request for one call. Asks for a stream unless `wholeAnswer(call)`. */
  request(call: UpstreamCall): ProviderRequest;
  decoder(call: UpstreamCall): Decoder;
  /** Whether this call is answered by a single JSON document in the caller's own format. */
  wholeAnswer?(call: UpstreamCall): boolean;
  /**
   * Reads usage and outcome from such a document. Throws an UpstreamFailure if it is not an answer.
   * `json` may be corrected in place. `failure`: the answer says that it failed.
   */
  readAnswer?(
    json: Json,
    call: UpstreamCall,
  ): {
    tokens: Tokens | undefined;
    billed?: Billed;
    finish: FinishReason;
    /** The provider's word for the finish reason, where that says more. */
    providerReason?: string;
    failure?: UpstreamFailure;
  };
  /** Converts such a document into one batch, for servers that cannot stream. Throws like `readAnswer`. */
  documentAsBatch?(json: Json, call: UpstreamCall): Batch;
  /** The request that counts the input of a call; undefined if the provider cannot count this one. */
  countRequest?(
    call: Pick<UpstreamCall, 'inference' | 'model' | 'key' | 'subscription'>,
  ): { url: string; headers: Record<string, string>; body: string } | undefined;
  /** Reads the number of tokens from its answer; undefined if there is none. */
  readCount?(json: Json): number | undefined;
  /** Interprets a status of 400 or more. `body` is at most 64 KiB and may be anything. */
  failure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
}

/** The embeddings endpoint of one HTTP provider. Splitting a call into requests is the same for all: embeddings/. */
export interface EmbeddingsAdapter {
  /** Inputs of one request. */
  inputsMax: number;
  /** UTF-8 bytes of all texts of one request, and tokens of all others; unlimited by default. */
  bytesMax?: number;
  /** Pure: the request for some of the call's inputs. Throws an UpstreamFailure for inputs that it cannot express. */
  request(call: UpstreamCall, inputs: readonly EmbeddingInput[]): ProviderRequest;
  /** Reads `count` vectors and the tokens of their inputs. Throws an UpstreamFailure if it is not an answer. */
  read(json: Json, count: number): { vectors: Vector[]; inputTokens: number | undefined };
  /** As in `Adapter`. */
  failure: Adapter['failure'];
}

/** The API of a provider that is known by name. Registered in `providers/registry.ts`. */
export interface ProviderApi {
  /** Used unless the configuration sets another; without a trailing slash. */
  baseUrl: string;
  /** See `ProviderSettings`. */
  loginUrl?: string;
  /** The caller formats that the provider speaks natively; undefined if all are translated. */
  wires: readonly Wire[] | undefined;
  /** Those of one model, if not every model has all; some of `wires`. */
  wiresOf?: (model: string) => readonly Wire[];
  /** `wire` is one of `wires`; undefined if there are none. */
  adapter(settings: ProviderSettings, wire: Wire | undefined): Adapter;
  /** Undefined if the provider has no embeddings. */
  embeddings?: (settings: ProviderSettings) => EmbeddingsAdapter;
  /** The headers that carry a key. */
  keyHeaders(key: string): Record<string, string>;
  /** A free endpoint that only accepts valid keys. */
  keyCheckUrl(baseUrl: string): string;
  models: ModelListing;
}

/** How to read a provider's list of models. */
export interface ModelListing {
  /** The URL of one page; of the first one without `page`. */
  url(baseUrl: string, page?: string): string;
  /** The list inside a response, not yet validated. */
  listIn(answer: Json): unknown;
  /** The token of the next page; undefined on the last one. */
  nextPage?(answer: Json): string | undefined;
  /** Reads one entry; undefined for models that generate neither text nor embeddings. */
  read(model: Json): ListedModel | undefined;
}
