import type { Tokens } from '../../../shared/money.ts';
import type { FinishReason } from '../../features/inference/neutral.ts';
import type { UpstreamFailure } from '../../features/inference/upstream.ts';

/** What the simulator has decided to say. Parts are sent in the order of these members. */
export interface Content {
  /** Paragraphs of a reasoning summary; empty for no reasoning. */
  reasoning: string[];
  text?: string;
  refusal?: string;
  calls: PlannedCall[];
  finish: FinishReason;
}

export interface PlannedCall {
  name: string;
  /** As sent; a script may make it anything, even broken JSON. */
  arguments: string;
}

export interface Pace {
  /** Silence before the first event. */
  latencyMs: number;
  /** Undefined sends everything at once. */
  tokensPerSecond: number | undefined;
}

/** Content and the way it is delivered. */
export interface Answer {
  content: Content;
  pace: Pace;
  /** Replaces single counts of the usage. */
  tokens?: Partial<Tokens>;
  failure?: PlannedFailure;
}

export interface PlannedFailure {
  error: UpstreamFailure;
  /** How much of the answer comes before it; undefined fails instead of answering. */
  afterTokens: number | undefined;
}

export const atOnce: Pace = { latencyMs: 0, tokensPerSecond: undefined };
