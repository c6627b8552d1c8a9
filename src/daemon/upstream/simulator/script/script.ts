import type { Tokens } from '../../../../shared/money.ts';
import type { FinishReason } from '../../../features/inference/neutral.ts';
import type { UpstreamFailureDetails, UpstreamFailureKind } from '../../../features/inference/upstream.ts';

/** A script that was read and found good. */
export interface SimulatorScript {
  fileName: string;
  /** Whether a request that no rule matches fails instead of being answered as without a script. */
  strict: boolean;
  /** Names of models that the script adds to the built-in ones. */
  models: string[];
  /** Tried in this order; the first that matches answers. */
  rules: Rule[];
  /** Answers what no rule matches. */
  otherwise: Reply | undefined;
}

export interface Rule {
  condition: Condition;
  reply: Reply;
  /** How often it answers at most. */
  times: number;
}

/** All that is given must hold. */
export interface Condition {
  models?: RegExp[];
  message?: TextMatch;
  system?: TextMatch;
  toolResult?: { name?: string; text?: TextMatch };
  turn?: number;
  /** Whether there are tools, or the name of one that must be offered. */
  tools?: boolean | string;
  images?: boolean;
}

/** `contains` and `matches` do not look at upper and lower case. */
export interface TextMatch {
  contains?: string;
  equals?: string;
  matches?: RegExp;
}

/** What a rule answers; what it leaves out is as it would be without the rule. */
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
  /** Text is sent as it is; undefined stands for arguments made from the tool's schema. */
  arguments: string | Record<string, unknown> | undefined;
}

export interface ScriptedError {
  kind: UpstreamFailureKind;
  message: string;
  details: UpstreamFailureDetails;
}
