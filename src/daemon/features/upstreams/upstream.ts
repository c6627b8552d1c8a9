import type { ApiError } from '../../../shared/errors.ts';
import type { Tokens } from '../../../shared/money/money.ts';
import type {
  Batch,
  Billed,
  CallFormat,
  ContentPart,
  FinishReason,
  Inference,
  InputItem,
  Wire,
} from './neutral.ts';
import type { Subscription } from './subscription.ts';

/** One attempt to get an answer from one provider. */
export interface UpstreamCall {
  inference: Inference;
  /** The model's name at the provider. */
  model: string;
  /** Unknown by default. */
  abilities?: ModelAbilities;
  /** The format to use, one of the provider's `wires`; undefined for a provider with its own format. */
  wire: Wire | undefined;
  /** The provider's key; undefined for providers that need none. */
  key: string | undefined;
  /** The client's own login in place of a key. */
  subscription?: Subscription | undefined;
  /** Within the budget, the caller's limit and the model's maximum. */
  outputTokensMax: number | undefined;
  /** How the request is written differently, as its provider refused the usual way; undefined for none. */
  adjustments?: ReadonlySet<Adjustment>;
  /** How long earlier attempts of the same call took, in milliseconds. */
  spentMs?: number;
  /** Set for a call whose content is kept. */
  capture?: AttemptsCapture | undefined;
}

/** Another way to write a request, for a provider that refuses the usual one. */
export type Adjustment =
  /** The name of the limit of the output. */
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'no-stream-options'
  /** Earlier reasoning is left out, or every message with calls has some. */
  | 'no-reasoning-history'
  | 'reasoning-history'
  /** Items of the input have no status, or all have one. */
  | 'no-item-status'
  | 'item-status'
  /** Earlier reasoning that the provider encrypted is left out. */
  | 'no-encrypted-reasoning'
  /** Tools are not marked as strict. */
  | 'no-strict-tools'
  /** Descriptions of tools are cut. */
  | 'short-descriptions'
  /** Schemas of tools have nothing that cannot become a grammar. */
  | 'grammar-schemas'
  /** They have what all servers know only. */
  | 'plain-schemas'
  /** The model does not think before a call that it must make. */
  | 'no-forced-thinking'
  /** A conversation that ends with a message of the assistant goes on with one of the user. */
  | 'user-last'
  /** A conversation without a message of the user goes on with one. */
  | 'user-message'
  /** Messages of the user and the assistant alternate, the user's first, without counting those of tools. */
  | 'alternating-turns'
  /** What the system says is the user's. */
  | 'no-system-role'
  /** The texts of a message are one. */
  | 'joined-texts'
  /** A tool that must be called is the only one. */
  | 'no-named-tool'
  /** A schema for the answer is an instruction, next to JSON mode or alone, or alone next to tools; JSON mode is the schema of an object. */
  | 'json-mode'
  | 'no-json-mode'
  | 'no-json-mode-with-tools'
  | 'json-mode-as-schema';

/** Keeps what is sent to providers for a call, and how they answer. */
export interface AttemptsCapture {
  sent(provider: string, request: SentRequest): AttemptCapture;
}

export interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

export interface AttemptCapture {
  received(answer: { status: number; headers: Readonly<Record<string, string>> }): void;
  /** The body of an answer that is an error. */
  refused(body: string): void;
  /** What is read of the body of another answer; absent if that is not kept. The bytes may change afterwards. */
  read?: ((bytes: Uint8Array) => void) | undefined;
}

/** What a model is known to have or to lack; null if unknown. */
export interface ModelAbilities {
  reasoning: boolean | null;
  structuredOutput: boolean | null;
  logprobs: boolean | null;
}

/** Answers model calls: a provider behind HTTP, or the built-in simulator. */
export interface Upstream {
  /** As used in answers, `x-service-upstream` and the configuration. */
  name: string;
  /**
   * Resolves with the first event, or with the whole JSON answer, so that an earlier failure can still become an HTTP
   * status or a fallback to another provider. Rejects with an UpstreamFailure.
   */
  open(call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer>;
  /**
   * Counts the input tokens of a call without making it; undefined if this provider cannot count this call. Rejects with an
   * UpstreamFailure.
   */
  countInput?(
    call: Pick<UpstreamCall, 'inference' | 'model' | 'abilities' | 'wire' | 'key' | 'subscription'>,
    signal: AbortSignal,
  ): Promise<number | undefined>;
}

export type UpstreamAnswer = (StreamAnswer | JsonAnswer | EmbeddingAnswer) & {
  /** Headers of the provider's answer that state the limits of the account there. */
  rateLimits?: Readonly<Record<string, string>>;
};

/** A part of the request that the provider or its format does not take, and that was left out or reduced. */
export interface Dropped {
  /** Its path in the request. */
  param: string;
  /** Its type, if it is a tool or an item. */
  type?: string;
}

/** Iteration throws an UpstreamFailure when the stream breaks or ends without its closing event. */
export interface StreamAnswer {
  kind: 'stream';
  batches: AsyncIterable<Batch>;
  dropped?: readonly Dropped[];
  /** Puts a failure of the iteration in the caller's terms; undefined if the provider's request has the same. */
  explain?: (failure: UpstreamFailure) => UpstreamFailure;
}

/** A whole answer in the caller's format, for calls that are not streamed. */
export interface JsonAnswer {
  kind: 'json';
  wire: CallFormat;
  json: Record<string, unknown>;
  tokens: Tokens | undefined;
  billed?: Billed;
  finish: FinishReason;
  /** The provider's word for it, where that says more. */
  providerReason?: string;
  /** The model that the provider says has answered. */
  servedModel?: string;
  /** Why the answer is not complete, if the provider says that it failed, or why the client does not get it. */
  failure?: UpstreamFailure | ApiError;
  dropped?: readonly Dropped[];
}

/** The answer to a call for embeddings. */
export interface EmbeddingAnswer {
  kind: 'embeddings';
  /** In the order of the inputs. */
  vectors: readonly Vector[];
  /** Undefined if the provider did not count them. */
  inputTokens: number | undefined;
  dropped?: readonly Dropped[];
}

export type Vector = readonly number[] | Float32Array;

export type UpstreamFailureKind =
  /** The request itself is at fault: every other provider would reject it too. */
  | 'caller'
  | 'unknown-model'
  /** 401, or a 403 about the key or the account: the provider does not accept them. */
  | 'authentication'
  /** Another 403: the account may not use the model, or not in this way. */
  | 'forbidden'
  /** 402: the provider's account is out of money. */
  | 'billing'
  | 'rate-limited'
  /** 5xx and equivalent failures. */
  | 'server'
  | 'timeout'
  | 'network'
  /** The stream ended early or could not be decoded. */
  | 'broken'
  /** It answered with nothing; only where the caller wants another provider then. */
  | 'empty'
  /** It filtered its answer; likewise. */
  | 'filtered';

export type CallerErrorCode = 'context_length_exceeded' | 'unsupported_value' | 'invalid_request';

export interface UpstreamFailureDetails {
  status?: number;
  retryAfterSeconds?: number;
  /** Headers of the provider's answer that state the limits of the account there. */
  rateLimits?: Readonly<Record<string, string>>;
  /**
   * The provider's sentence for the caller, sanitized: it never contains a key. Failures that concern the account there have
   * none.
   */
  publicMessage?: string;
  code?: CallerErrorCode;
  /** The field at fault, as the provider's format or that of Responses names it. */
  param?: string | null;
  /** The field at fault in the provider's request, if it has a position there: `messages.1.content.0`. */
  path?: string;
  /** The part of the call that the provider's format cannot express. */
  unsupported?: ContentPart | InputItem;
  /** For kind `caller`: the body of the provider's request for a version of the call. Throws like `open` rejects. */
  write?: (inference: Inference) => unknown;
  /** For kind `caller`: the code that callers of OpenAI's formats know, such as `invalid_json_schema`. */
  exactCode?: string;
  /** The provider's own error code, such as `server_error`; an identifier. */
  providerCode?: string;
  /** The provider's own answer with status `failed`. The caller gets it when no other provider answers. */
  answer?: JsonAnswer;
  cause?: unknown;
}

const accountKinds: ReadonlySet<UpstreamFailureKind> = new Set(['authentication', 'forbidden', 'billing']);

/** Why a provider did not answer, or stopped answering. */
export class UpstreamFailure extends Error {
  readonly kind: UpstreamFailureKind;
  readonly details: UpstreamFailureDetails;

  constructor(kind: UpstreamFailureKind, message: string, details: UpstreamFailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'UpstreamFailure';
    this.kind = kind;
    this.details = details;
  }

  /** Whether it is about the account there, which is not the caller's, and not about the request or the provider. */
  get isAboutAccount(): boolean {
    return accountKinds.has(this.kind);
  }
}
