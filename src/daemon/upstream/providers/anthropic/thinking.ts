import type { Inference } from '../../../features/inference/neutral.ts';
import type { Json } from '../json-value.ts';
import type { Effort, ModelTraits } from './models.ts';

export interface ThinkingFields {
  thinking: Json | undefined;
  effort: Effort | undefined;
}

export interface ThinkingContext {
  traits: ModelTraits;
  maxTokens: number;
  /** Whether tool_choice demands a call: no thinking can be asked for beside it. */
  forced: boolean;
  /** Whether the turn that tool results answer begins with thoughts, as budget models demand. */
  canContinueThoughts: boolean;
  /** Whether earlier thoughts are sent back. */
  replays: boolean;
}

const budgetTokensMin = 1024;
const budgetTokens: Record<Effort, number> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 32_000,
};

/** The caller's reasoning settings as `thinking` and `output_config.effort`. */
export function thinkingFields(reasoning: Inference['reasoning'], context: ThinkingContext): ThinkingFields {
  const { traits } = context;
  if (reasoning?.effort === 'none') return withoutThinking(traits);
  const effort = effortOf(reasoning?.effort);
  const wantsSummary = reasoning?.summary !== undefined;
  if (traits.thinking === 'budget') {
    return { thinking: effort && budgetThinking(effort, context), effort: undefined };
  }
  if (traits.thinking === 'none') return { thinking: undefined, effort: undefined };

  const accepted = effort && nearest(effort, traits.efforts);
  const binds = traits.bindsThoughts && context.replays;
  if (context.forced || (!accepted && !wantsSummary && !binds)) {
    return { thinking: undefined, effort: accepted };
  }
  const thinking: Json = { type: 'adaptive' };
  if (wantsSummary && traits.hidesThoughts) thinking.display = 'summarized';
  // Instructions and tools change between turns: then the thoughts are to be forgotten, not the call refused.
  if (binds) thinking.block_binding = { prefix_mismatch_behavior: 'drop_block' };
  return { thinking, effort: accepted };
}

function withoutThinking({ thinkingOff }: ModelTraits): ThinkingFields {
  if (thinkingOff === 'low-effort') return { thinking: undefined, effort: 'low' };
  const thinking = thinkingOff === 'omit' ? undefined : { type: thinkingOff };
  return { thinking, effort: undefined };
}

/** The budget is part of max_tokens and must leave room for the answer. */
function budgetThinking(effort: Effort, context: ThinkingContext): Json | undefined {
  if (context.forced || !context.canContinueThoughts) return undefined;
  const budget = Math.min(budgetTokens[effort], Math.floor(context.maxTokens * 0.8));
  return budget < budgetTokensMin ? undefined : { type: 'enabled', budget_tokens: budget };
}

function effortOf(asked: string | undefined): Effort | undefined {
  if (asked === 'minimal') return 'low';
  return ladder.find((effort) => effort === asked);
}

const ladder: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The asked effort, or the highest accepted one below it. */
function nearest(asked: Effort, accepted: readonly Effort[]): Effort | undefined {
  return ladder.slice(0, ladder.indexOf(asked) + 1).findLast((effort) => accepted.includes(effort));
}
