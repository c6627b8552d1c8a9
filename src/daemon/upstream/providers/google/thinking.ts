import { ownValue } from '../../../../shared/own-value.ts';
import type { Inference } from '../../../features/inference/neutral.ts';
import type { Json } from '../json-value.ts';
import type { ModelTraits, ThinkingLevel } from './models.ts';

/** The levels that would do for each effort, best first: not every model has each. */
const levels: Record<string, ThinkingLevel[]> = {
  none: ['MINIMAL', 'LOW'],
  minimal: ['MINIMAL', 'LOW'],
  low: ['LOW'],
  medium: ['MEDIUM', 'HIGH'],
  high: ['HIGH'],
  xhigh: ['HIGH'],
  max: ['HIGH'],
};

/** Tokens for each effort, as Google's own OpenAI-compatible endpoint reads it. */
const budgets: Record<string, number> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

/** The caller's reasoning settings as `generationConfig.thinkingConfig`; level and budget exclude each other. */
export function thinkingConfig(reasoning: Inference['reasoning'], traits: ModelTraits): Json | undefined {
  if (!reasoning || traits.thinking === 'none') return undefined;
  const { effort, summary } = reasoning;
  const config: Json = {};
  if (summary !== undefined && effort !== 'none') config.includeThoughts = true;
  if (effort !== undefined && traits.thinking === 'level') {
    config.thinkingLevel = ownValue(levels, effort)?.find((level) => traits.levels.includes(level));
  } else {
    const budget = ownValue(budgets, effort);
    if (budget !== undefined)
      config.thinkingBudget = Math.min(Math.max(budget, traits.budgetMin), traits.budgetMax);
  }
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}
