/** Default models, best first: fast, cheap and good enough for most uses. */
export const preferredModels: readonly string[] = [
  'openai/gpt-5-mini',
  'anthropic/claude-haiku-4-5',
  'google/gemini-2.5-flash',
];
