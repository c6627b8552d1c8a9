import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import type { NanoUsd, Tokens } from '../../../shared/money/money.ts';
import type { Identified } from '../../base/handler.ts';
import type { UsageRecord } from '../metering/index.ts';
import type { PayableRequest } from '../payment-required/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import type { ServiceOptions } from './service-member.ts';

/** A model call in the neutral form, before it is admitted. */
export interface ModelCall {
  caller: Identified;
  requestId: string;
  /** The path of the endpoint. */
  endpoint: string;
  inference: Inference;
  options: ServiceOptions;
  labels: CallLabels;
  signal: AbortSignal;
  /** As it was received: a payment for the call would be bound to it. Calls without it are never offered an invoice. */
  request?: PayableRequest | undefined;
  /** Observers of this call alone. */
  observers?: readonly CallObserver[];
}

/**
 * Learns of the fate of a model call, in the order of its methods. The methods are called synchronously: they must not
 * throw, and no call waits for them.
 */
export interface CallObserver {
  /** The call waits until its limits of concurrent calls let it start, or go on with another provider. */
  onQueued?(queued: QueuedModelCall): void;
  /** The call was admitted and its hold is being written. */
  onAdmitted?(admitted: AdmittedCall): void;
  /** A provider is about to be asked. */
  onRouted?(routed: RoutedCall): void;
  /** An answer is being generated; called every two seconds, and more often if it is expensive. */
  onProgress?(call: ModelCall, progress: CallProgress): void;
  /** The settlement is on disk, `settledMs` milliseconds after the request arrived. */
  onSettled?(usage: UsageRecord, settledMs: number): void;
  /** The call was rejected before a provider was asked: by a limit, the balance, or for lack of a route. */
  onRejected?(rejected: RejectedCall): void;
}

export interface QueuedModelCall {
  call: ModelCall;
  /** The catalog's id of the best route's model; null if there is none. */
  model: string | null;
  /** What it waits for: a key, model or provider. */
  limit: { kind: string; name: string };
  /** Counted from 1. */
  position: number;
}

export interface AdmittedCall {
  call: ModelCall;
  /** The catalog's id of the best route's model. */
  model: string;
}

export interface RoutedCall {
  call: ModelCall;
  model: string;
  provider: string;
  /** Counted from 1. */
  attempt: number;
}

/** A running call's usage so far; estimated until the provider reports it. */
export interface CallProgress {
  requestId: string;
  provider: string;
  model: string;
  tokens: Tokens;
  /** Null if the price is unknown. */
  cost: NanoUsd | null;
  /** Milliseconds from the request to the start of the answer. */
  ttftMs: number | null;
}

export interface RejectedCall {
  call: ModelCall;
  error: unknown;
  /** Milliseconds from the request to its rejection. */
  ms: number;
}

/** The observers of one call: its own, then those of all calls. */
export function observersOf(
  { observers }: { observers: readonly CallObserver[] },
  call: ModelCall,
): readonly CallObserver[] {
  return call.observers ? [...call.observers, ...observers] : observers;
}
