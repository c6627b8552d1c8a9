/** Averages, for estimates only. */
const charactersPerToken = 4;

/** An image of ordinary size on most models. */
export const imageTokensTypical = 1_000;

/** Estimates the tokens of a text by its length. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
