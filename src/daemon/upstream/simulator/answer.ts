import type { Tokens } from '../../../shared/money/money.ts';
import type { FinishReason } from '../../features/upstreams/neutral.ts';
import type { UpstreamFailure } from '../../features/upstreams/upstream.ts';

/** The content of an answer. Parts are sent in the order of these members. */
export interface Content {
  /** Paragraphs of a reasoning summary; empty for no reasoning. */
  reasoning: string[];
  text?: string;
  refusal?: string;
  calls: PlannedCall[];
  finish: FinishReason;
  /** The caller's stop sequence that ended the text. */
  stopSequence?: string;
}

export interface PlannedCall {
  name: string;
  /** Sent unchanged; in a script it may be anything, even invalid JSON. */
  arguments: string;
}

export interface Pace {
  /** Silence before the first event. */
  latencyMs: number;
  /** Undefined sends everything at once. */
  tokensPerSecond: number | undefined;
}

/** The content of an answer and how it is delivered. */
export interface SimulatedAnswer {
  content: Content;
  pace: Pace;
  /** Overrides individual token counts. */
  tokens?: Partial<Tokens>;
  failure?: PlannedFailure;
}

export interface PlannedFailure {
  error: UpstreamFailure;
  /** How many tokens of the answer are sent before it; undefined fails instead of answering. */
  afterTokens: number | undefined;
}

export const immediately: Pace = { latencyMs: 0, tokensPerSecond: undefined };
