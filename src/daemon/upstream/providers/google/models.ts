/** How much a Gemini 3 model may be told to think. */
export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** What a Gemini model takes. Source: the Gemini API's pages on thinking, thought signatures and structured output. */
export interface ModelTraits {
  /** `budget` models take a number of tokens, `level` models a level. */
  thinking: 'none' | 'budget' | 'level';
  levels: readonly ThinkingLevel[];
  /** Bounds of a thinking budget in tokens; 0 turns thinking off where `budgetMin` is 0. */
  budgetMin: number;
  budgetMax: number;
  /** Whether calls in the history must carry the signature of the thoughts behind them. */
  needsSignatures: boolean;
  /** Whether structured output may be asked for beside tools. */
  takesSchemaWithTools: boolean;
  /** temperature, topP, topK */
  takesSampling: boolean;
  takesPenalties: boolean;
}

/** Names without a version (`gemini-flash-latest`) are taken for a current model. */
const currentRank = 308;

export function traitsOf(model: string): ModelTraits {
  const isGemini = /gemini/i.test(model);
  const version = /gemini-(\d+)(?:\.(\d+))?/i.exec(model);
  const rank = version ? Number(version[1]) * 100 + Number(version[2] ?? 0) : currentRank;
  const isLevelled = isGemini && rank >= 300;
  return {
    thinking: isLevelled ? 'level' : isGemini && rank >= 205 ? 'budget' : 'none',
    levels: levelsOf(model, rank),
    budgetMin: /pro/i.test(model) ? 128 : 0,
    budgetMax: /pro/i.test(model) ? 32_768 : 24_576,
    needsSignatures: isLevelled,
    takesSchemaWithTools: isLevelled,
    // From 3.6 on these are ignored, and the next generation is announced to refuse them.
    takesSampling: !isGemini || rank < 306,
    takesPenalties: !isGemini || rank < 205,
  };
}

function levelsOf(model: string, rank: number): readonly ThinkingLevel[] {
  if (/flash-lite/i.test(model)) return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  if (/flash/i.test(model) && rank < 307) return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  return /gemini-3-pro/i.test(model) ? ['LOW', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH'];
}
