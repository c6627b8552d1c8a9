/** The thinking level of a Gemini 3 model. */
export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** What a Gemini model accepts. Source: the Gemini API's pages on thinking, thought signatures and structured output. */
export interface ModelTraits {
  /** `budget` models accept a number of tokens, `level` models a level. */
  thinking: 'none' | 'budget' | 'level';
  levels: readonly ThinkingLevel[];
  /** Limits of a thinking budget in tokens; if `budgetMin` is 0, a budget of 0 turns thinking off. */
  budgetMin: number;
  budgetMax: number;
  /** Whether calls in the history must have the signature of the thoughts that led to them. */
  needsSignatures: boolean;
  /** Whether structured output can be combined with tools. */
  supportsSchemaWithTools: boolean;
  /** temperature, topP, topK */
  supportsSampling: boolean;
  supportsPenalties: boolean;
}

/** For names without a version (`gemini-flash-latest`). */
const currentRank = 308;

export function traitsOf(model: string): ModelTraits {
  const isGemini = /gemini/i.test(model);
  const version = /gemini-(\d+)(?:\.(\d+))?/i.exec(model);
  const rank = version ? Number(version[1]) * 100 + Number(version[2] ?? 0) : currentRank;
  const hasLevels = isGemini && rank >= 300;
  return {
    thinking: hasLevels ? 'level' : isGemini && rank >= 205 ? 'budget' : 'none',
    levels: levelsOf(model, rank),
    budgetMin: /pro/i.test(model) ? 128 : 0,
    budgetMax: /pro/i.test(model) ? 32_768 : 24_576,
    needsSignatures: hasLevels,
    supportsSchemaWithTools: hasLevels,
    // Ignored from 3.6 on; the next generation is announced to refuse them.
    supportsSampling: !isGemini || rank < 306,
    supportsPenalties: !isGemini || rank < 205,
  };
}

function levelsOf(model: string, rank: number): readonly ThinkingLevel[] {
  if (/flash-lite/i.test(model)) return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  if (/flash/i.test(model) && rank < 307) return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  return /gemini-3-pro/i.test(model) ? ['LOW', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH'];
}
