import type { Tokens } from '../../../shared/money.ts';
import type { Batch, FinishReason, Inference, Wire } from './neutral.ts';

/** One attempt to have a call answered by one provider. */
export interface UpstreamCall {
  inference: Inference;
  /** The model's name at the provider. */
  model: string;
  /** The format to speak with it, one of the provider's `wires`; undefined for a provider with its own. */
  wire: Wire | undefined;
  /** The provider's key; undefined for providers that need none. */
  key: string | undefined;
  /** What the budget allows, already below what the caller asked for and the model can do. */
  outputTokensMax: number | undefined;
}

/** Somebody who answers model calls: a provider behind HTTP, or the built-in simulator. */
export interface Upstream {
  /** As it appears in answers, `x-service-upstream` and the config. */
  name: string;
  /**
   * Resolves when the first event (or the whole JSON answer) is there, so that a failure before it can still become a
   * status or another provider's answer. Rejects with an UpstreamFailure.
   */
  open(call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer>;
}

export type UpstreamAnswer = StreamAnswer | JsonAnswer;

/** Iterating throws an UpstreamFailure when the stream breaks or ends without its closing event. */
export interface StreamAnswer {
  kind: 'stream';
  batches: AsyncIterable<Batch>;
}

/** A whole answer in the caller's own format; only for calls that are not streamed. */
export interface JsonAnswer {
  kind: 'json';
  wire: Wire;
  bytes: Uint8Array;
  json: Record<string, unknown>;
  tokens: Tokens | undefined;
  finish: FinishReason;
}

export type UpstreamFailureKind =
  /** The request itself is at fault: another provider would say the same. */
  | 'caller'
  | 'unknown-model'
  /** 401 or 403: the key is not accepted. */
  | 'authentication'
  /** 402: the provider's account is out of money. */
  | 'billing'
  | 'rate-limited'
  /** 5xx and what amounts to it. */
  | 'server'
  | 'timeout'
  | 'network'
  /** The stream ended early or was not understood. */
  | 'broken';

export interface UpstreamFailureDetails {
  status?: number;
  retryAfterSeconds?: number;
  /** For kind `caller`: what the caller is told. Never holds a key. */
  publicMessage?: string;
  code?: 'context_length_exceeded' | 'unsupported_value' | 'invalid_request';
  param?: string | null;
  cause?: unknown;
}

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
}
