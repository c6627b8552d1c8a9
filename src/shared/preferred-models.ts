/** What is taken where nobody names a model, the first that is there: quick and cheap, and good enough for most. */
export const preferredModels: readonly string[] = [
  'openai/gpt-5-mini',
  'anthropic/claude-haiku-4-5',
  'google/gemini-2.5-flash',
];
