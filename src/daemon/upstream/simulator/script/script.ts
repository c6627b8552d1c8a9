import type { Tokens } from '../../../../shared/money.ts';
import type { FinishReason } from '../../../features/inference/neutral.ts';
import type { UpstreamFailureDetails, UpstreamFailureKind } from '../../../features/inference/upstream.ts';

/** A valid script. */
export interface SimulatorScript {
  fileName: string;
  /** Whether a request without a matching rule fails. */
  strict: boolean;
  /** Names of models that the script adds to the built-in ones. */
  models: string[];
  /** The first matching rule answers. */
  rules: Rule[];
  /** The answer if no rule matches. */
  fallback: Reply | undefined;
}

export interface Rule {
  condition: Condition;
  reply: Reply;
  /** The maximum number of answers. */
  times: number;
}

/** All given parts must match. */
export interface Condition {
  models?: RegExp[];
  message?: TextMatch;
  system?: TextMatch;
  toolResult?: { name?: string; text?: TextMatch };
  turn?: number;
  /** Whether tools are offered, or the name of a required one. */
  tools?: boolean | string;
  images?: boolean;
}

/** `contains` and `matches` ignore case. */
export interface TextMatch {
  contains?: string;
  equals?: string;
  matches?: RegExp;
}

/** The answer of a rule; parts that are left out are as without the rule. */
export interface Reply {
  text?: string;
  json?: { value: unknown };
  calls?: ScriptedCall[];
  reasoning?: string[];
  refusal?: string;
  error?: ScriptedError;
  latencyMs?: number;
  tokensPerSecond?: number;
  breakAfterTokens?: number;
  tokens?: Partial<Tokens>;
  finish?: FinishReason;
}

export interface ScriptedCall {
  name: string;
  /** Text is sent unchanged; if undefined, arguments are generated from the tool's schema. */
  arguments: string | Record<string, unknown> | undefined;
}

export interface ScriptedError {
  kind: UpstreamFailureKind;
  message: string;
  details: UpstreamFailureDetails;
}
