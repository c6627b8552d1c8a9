import { Argument } from '@commander-js/extra-typings';
import type { OwnKeyProvider } from '../../../shared/contract/provider-keys.ts';

// Taken by type from the contract, whose module would load TypeBox.
const providers = {
  openai: true,
  anthropic: true,
  google: true,
  openrouter: true,
  vercel: true,
} as const satisfies Record<OwnKeyProvider, true>;

export const providerArgument = () =>
  new Argument('<provider>', 'whose key it is').choices(Object.keys(providers) as OwnKeyProvider[]);
