import type { KnownProvider } from '../../shared/known-providers.ts';

/** The variables that the providers' own SDKs read; the first one that is set counts. */
export const keyVariables: Readonly<Record<KnownProvider, readonly [string, ...string[]]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  openrouter: ['OPENROUTER_API_KEY'],
  vercel: ['AI_GATEWAY_API_KEY'],
};
