import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { ProviderApi } from '../adapter.ts';
import { anthropic } from './anthropic/index.ts';
import { google } from './google/index.ts';
import { openAi } from './openai.ts';
import { openRouter } from './openrouter.ts';
import { vercel } from './vercel.ts';

/** The API of every known provider. One that only has OpenAI's chat format is a `chatProvider({ baseUrl })`. */
export const providerApis: Readonly<Record<KnownProvider, ProviderApi>> = {
  openai: openAi,
  anthropic,
  google,
  openrouter: openRouter,
  vercel,
};
