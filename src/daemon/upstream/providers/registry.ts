import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { KnownApi } from '../adapter.ts';
import { anthropic } from './anthropic/index.ts';
import { google } from './google/index.ts';
import { openAi } from './openai.ts';
import { openRouter } from './openrouter.ts';
import { vercel } from './vercel.ts';

/** Every provider that is known by name. */
export const knownApis: Readonly<Record<KnownProvider, KnownApi>> = {
  openai: openAi,
  anthropic,
  google,
  openrouter: openRouter,
  vercel,
};
